// Schemas nobody would write, for tests of the plugin.
#pragma once

#include <cstdint>

#include <google/protobuf/descriptor.pb.h>

namespace harena::codegen {

/// A schema made from `seed`, the same one each time: nested messages, groups, maps, oneofs,
/// extensions, services, names that are keywords of C++, each option that changes what protoc
/// generates. It imports nothing. protoc's own C++ compiles for most of them, not for all.
google::protobuf::FileDescriptorProto RandomSchema(uint64_t seed);

}  // namespace harena::codegen
