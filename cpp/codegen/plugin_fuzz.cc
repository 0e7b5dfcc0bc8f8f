// A libFuzzer target: any schema, any parameter, through protoc's C++ generator and the plugin as
// protoc runs them. What the plugin inserts must have its insertion point in the generated code,
// and a schema that is refused must be refused with a reason.
//
// The first byte chooses the parameter, the second where the schema comes from: 0 to 127, the rest
// is a FileDescriptorProto; from 128 on, the rest is a seed of random_schema.h. `make fuzz` runs
// it. plugin_fuzz_test.cc runs the same body over seeds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/compiler/code_generator.h>
#include <google/protobuf/compiler/cpp/generator.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "plugin.h"
#include "random_schema.h"

#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::compiler::GeneratorContext;
using google::protobuf::io::StringOutputStream;
using google::protobuf::io::ZeroCopyOutputStream;

// Keeps the files in memory, and what is inserted into them beside them.
class Files final : public GeneratorContext {
 public:
  ZeroCopyOutputStream* Open(const std::string& name) override {
    return new StringOutputStream(&files_[name]);
  }
  ZeroCopyOutputStream* OpenForInsert(const std::string& name, const std::string& point) override {
    insertions_.push_back({name, point, std::make_unique<std::string>()});
    return new StringOutputStream(insertions_.back().text.get());
  }

  // Dies for what protoc would refuse: it says so to whoever runs it, and nothing is written.
  void CheckInsertions() const {
    for (const Insertion& insertion : insertions_) {
      const auto file = files_.find(insertion.file);
      const std::string mark = "@@protoc_insertion_point(" + insertion.point + ")";
      if (file != files_.end() && file->second.find(mark) != std::string::npos) continue;
      std::fprintf(stderr, "no %s in %s\n", mark.c_str(), insertion.file.c_str());
      std::abort();
    }
  }

 private:
  struct Insertion {
    std::string file, point;
    std::unique_ptr<std::string> text;
  };
  std::map<std::string, std::string> files_;
  std::vector<Insertion> insertions_;
};

class Quiet final : public DescriptorPool::ErrorCollector {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  void AddError(const std::string&, const std::string&, const google::protobuf::Message*,
                ErrorLocation, const std::string&) override {}
#else
  void RecordError(std::string_view, std::string_view, const google::protobuf::Message*,
                   ErrorLocation, std::string_view) override {}
#endif
};

const char* Parameter(uint8_t choice) {
  constexpr const char* kParameters[] = {"codec", "grpc", "codec,grpc", "", "codec=1", "x,,="};
  return kParameters[choice % std::size(kParameters)];
}

bool Schema(const uint8_t* data, size_t size, FileDescriptorProto* schema) {
  if (data[0] < 128) return schema->ParsePartialFromArray(data + 1, static_cast<int>(size - 1));
  uint64_t seed = 0;
  std::memcpy(&seed, data + 1, std::min(size - 1, sizeof(seed)));
  *schema = harena::codegen::RandomSchema(seed);
  return true;
}

// The schema, when protoc would get as far as to the plugin with it.
const FileDescriptor* WhatProtocTakes(const FileDescriptorProto& schema, DescriptorPool& pool,
                                      Files& files) {
  const auto take = [&]() -> const FileDescriptor* {
    Quiet quiet;
    std::string error;
    const FileDescriptor* const file = pool.BuildFileCollectingErrors(schema, &quiet);
    if (file == nullptr) return nullptr;
    const google::protobuf::compiler::cpp::CppGenerator stock;
    return stock.Generate(file, "", &files, &error) ? file : nullptr;
  };
#if GOOGLE_PROTOBUF_VERSION < 4022000
  google::protobuf::SetLogHandler(nullptr);
  try {
    return take();
  } catch (const google::protobuf::FatalException&) {
    return nullptr;  // a CHECK of protobuf's own, which kills protoc
  }
#else
  return take();
#endif
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  FileDescriptorProto schema;
  if (!Schema(data + 1, size - 1, &schema)) return 0;
  DescriptorPool pool(DescriptorPool::generated_pool());
  Files files;
  std::string error;
  const FileDescriptor* const file = WhatProtocTakes(schema, pool, files);
  if (file == nullptr) return 0;
  if (!harena::codegen::Plugin().Generate(file, Parameter(data[0]), &files, &error)) {
    if (!error.empty()) return 0;
    std::fprintf(stderr, "refused without a reason:\n%s", file->DebugString().c_str());
    std::abort();
  }
  files.CheckInsertions();
  return 0;
}
