// Schemas nobody would write, for tests of the plugin.
#pragma once

#include <cstdint>

#include <google/protobuf/descriptor.pb.h>

namespace harena::codegen {

/// A schema made from `seed`, the same one each time: nested messages, groups, maps, oneofs,
/// extensions, services, names that are keywords of C++, each option that changes what protoc
/// generates. It imports nothing. Where protoc's own C++ of it could not be compiled (two members
/// of one name), the schema is not made.
google::protobuf::FileDescriptorProto RandomSchema(uint64_t seed);

}  // namespace harena::codegen
