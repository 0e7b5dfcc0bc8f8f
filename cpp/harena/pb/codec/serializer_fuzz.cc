// A libFuzzer target: any message of any type, on a scope of each mode, made in each way, is
// written as protobuf writes a copy of it on the heap.
//
// The head's bytes choose the type, how the message is made, the mode, and the sizes of the pieces;
// the rest is wire. `make fuzz` runs it.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_fuzz_input.h"
#include "harena/pb/codec/test_random_message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::pb::codec::test {

const FuzzInputForm kFuzzInputForm{.head_bytes = 4, .subjects = &AllSubjects};

namespace {

using google::protobuf::Message;

enum class Made { kCopied, kMerged, kParsed, kChanged, kThawed, kSwapped };
constexpr int kMades = 6;

void Change(Message& message, const FuzzInput& input) {
  Random random(std::hash<std::string_view>()(input.wire));
  FillRandomly(message, random, {.depth_max = 3, .fields_max = 20});
}

// The message, as far as the wire is one.
Message* Make(const FuzzInput& input, Scope& scope) {
  const std::string wire(input.wire);
  const std::unique_ptr<Message> heap(input.subject->prototype->New());
  static_cast<void>(heap->ParsePartialFromString(wire));
  Message* const message = input.subject->make(scope);
  switch (static_cast<Made>(input.head[1] % kMades)) {
    case Made::kCopied:
      message->CopyFrom(*heap);
      return message;
    case Made::kMerged:
      Change(*message, input);
      message->MergeFrom(*heap);
      message->MergeFrom(*heap);
      return message;
    case Made::kParsed:
      static_cast<void>(message->ParsePartialFromString(wire));
      return message;
    case Made::kChanged:
      static_cast<void>(message->ParsePartialFromString(wire));
      Change(*message, input);
      return message;
    case Made::kSwapped:
      message->GetReflection()->Swap(message, heap.get());
      Change(*message, input);
      return message;
    case Made::kThawed:
      break;
  }
  const Subject::Parsed frozen = input.subject->parse_frozen_flat(scope, input.wire);
  if (frozen.message == nullptr) return message;
  Message* const thawed = input.subject->thaw(scope, *frozen.message);
  Change(*thawed, input);
  return thawed;
}

std::string Problem(const FuzzInput& input) {
  constexpr Mode kModes[] = {Mode::kCodec, Mode::kPages, Mode::kArena, Mode::kCodec};
  Scope scope({.mode = kModes[input.head[2] % 4]});
  const Message* const message = Make(input, scope);
  const std::unique_ptr<Message> copy(message->New());
  copy->CopyFrom(*message);
  const bool has_codec = input.subject->has_codec && scope.mode() == Mode::kCodec;
  const std::string problem =
      WritingDifference(*message, has_codec, StockBytes(*copy), PiecesOf(input.head[3]));
  if (problem.empty()) return problem;
  return std::string(input.subject->name()) + ", mode " + std::string(ToString(scope.mode())) +
         ", way " + std::to_string(input.head[1] % kMades) + "\n  wire " + Hex(input.wire) + "\n" +
         problem;
}

}  // namespace
}  // namespace harena::pb::codec::test

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return FuzzOne(data, size, &Problem);
}
