#pragma once

#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>

namespace harena::codegen {

/// Prints the definition of the message's HarenaParse().
void PrintParser(const google::protobuf::Descriptor& message, google::protobuf::io::Printer& out);

/// The initialiser of the codec's WireFacts for the message.
std::string WireFactsOf(const google::protobuf::Descriptor& message);

}  // namespace harena::codegen
