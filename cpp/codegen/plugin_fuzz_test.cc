// A short, repeatable run of the fuzzer's body.
#include <cstring>
#include <string>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "random_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::codegen {
namespace {

constexpr uint64_t kSchemas = 100;

TEST(RandomSchemaTest, IsASchema) {
  for (uint64_t seed = 0; seed < kSchemas; ++seed) {
    google::protobuf::DescriptorPool pool;
    const auto schema = RandomSchema(seed);
    EXPECT_NE(pool.BuildFile(schema), nullptr) << seed << "\n" << schema.DebugString();
  }
}

TEST(PluginFuzz, SchemasFromSeeds) {
  for (uint64_t seed = 0; seed < kSchemas; ++seed) {
    for (char parameter = 0; parameter < 6; ++parameter) {
      std::string input{parameter, static_cast<char>(0x80)};
      input.append(reinterpret_cast<const char*>(&seed), sizeof(seed));
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    }
  }
}

TEST(PluginFuzz, SchemasThatWereDamaged) {
  for (uint64_t seed = 0; seed < kSchemas; ++seed) {
    std::string wire = RandomSchema(seed).SerializeAsString();
    for (size_t at = seed % 61; at < wire.size(); at += 61) {
      std::string input{static_cast<char>(at % 3), 0};
      input += wire;
      input[2 + at] = static_cast<char>(input[2 + at] ^ (1 << (at % 8)));
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    }
  }
}

}  // namespace
}  // namespace harena::codegen
