// Prints the schema of a seed as a .proto file, for random_schemas_test.py.
#include <cstdio>
#include <cstdlib>

#include <google/protobuf/descriptor.h>

#include "random_schema.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: harena_random_schema SEED\n", stderr);
    return 2;
  }
  google::protobuf::DescriptorPool pool;
  const auto* const file =
      pool.BuildFile(harena::codegen::RandomSchema(std::strtoull(argv[1], nullptr, 10)));
  if (file == nullptr) return 1;
  std::fputs(file->DebugString().c_str(), stdout);
  return 0;
}
