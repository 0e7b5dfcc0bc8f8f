// A libFuzzer target: the walk over a wire, which says before protobuf parses what that will take.
// It stops at nothing that protobuf accepts, and protobuf takes no more of the heap than it said.
//
// The head's bytes choose the type and the levels; the rest is wire. `make fuzz` runs it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <google/protobuf/io/coded_stream.h>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_fuzz_input.h"
#include "harena/pb/codec/test_heap_bytes.h"
#include "harena/pb/codec/test_limited_parse.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/pb/wire/walker.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::pb::codec::test {

const FuzzInputForm kFuzzInputForm{.head_bytes = 4, .subjects = &AllSubjects};

namespace {

wire::Walked WalkOver(const FuzzInput& input, int levels_max) {
  return wire::Walk(*wire::Schemas::OfGenerated(*input.subject->prototype->GetDescriptor()),
                    input.wire, levels_max);
}

// Whether protobuf's own parser accepts it.
bool Accepts(const FuzzInput& input, int levels_max) {
  const std::unique_ptr<google::protobuf::Message> message(input.subject->prototype->New());
  google::protobuf::io::CodedInputStream coded(reinterpret_cast<const uint8_t*>(input.wire.data()),
                                               static_cast<int>(input.wire.size()));
  coded.SetRecursionLimit(levels_max - 1);
  return message->ParsePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

// What it takes of the heap, on a scope, of whose pages the walker knows nothing.
size_t HeapBytesOf(const FuzzInput& input) {
  Scope scope({.mode = Mode::kPages});
  google::protobuf::Message* const message = input.subject->make(scope);
  pb::test::ChunkedStream stream(input.wire, input.wire.size() + 1);
  HeapWatch watch([] { return size_t{0}; });
  static_cast<void>(
      message->ParsePartialFromBoundedZeroCopyStream(&stream, static_cast<int>(input.wire.size())));
  return watch.bytes_max();
}

// protobuf's own limit in half of the inputs.
int LevelsOf(uint8_t choice) {
  const int usual = google::protobuf::io::CodedInputStream::GetDefaultRecursionLimit() + 1;
  return choice < 128 ? usual : 1 + choice % usual;
}

std::string Problem(const FuzzInput& input) {
  const int levels_max = LevelsOf(input.head[2]);
  const wire::Walked walked = WalkOver(input, levels_max);
  std::string problem;
  if (!walked.whole && Accepts(input, levels_max)) problem += "stopped at what protobuf accepts\n";
  if (walked.whole && levels_max == LevelsOf(0)) {
    // The first parse of a type makes what is kept for ever.
    static_cast<void>(HeapBytesOf(input));
    const size_t heap_bytes = HeapBytesOf(input);
    // Strings are charged with the wire. What docs/budgets.md says is there twice: strings that
    // come twice, and some keys of maps.
    const size_t twice = HasTextKeys(*input.subject) ? 3 : 2;
    // protobuf makes an unknown field before it reads how long that is, which may be cut off; and
    // it has a line for the log, where a string is not UTF-8.
    constexpr size_t kOnceBytes = 1024;
    const size_t said_bytes = walked.heap_bytes + twice * input.wire.size() + kOnceBytes;
    if (heap_bytes > said_bytes) {
      problem += "protobuf took " + std::to_string(heap_bytes) + " bytes of the heap, said were " +
                 std::to_string(said_bytes) + "\n";
    }
  }
  if (problem.empty()) return problem;
  return std::string(input.subject->name()) + ", levels " + std::to_string(levels_max) +
         "\n  wire " + Hex(input.wire) + "\n" + problem;
}

}  // namespace
}  // namespace harena::pb::codec::test

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return FuzzOne(data, size, &Problem);
}
