#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>

namespace harena::codegen {

/// Prints the definition of `Class::HarenaWrite()`: the fields from the last to the first, each
/// backwards.
void PrintSerializer(const google::protobuf::Descriptor& message,
                     google::protobuf::io::Printer& out);

}  // namespace harena::codegen
