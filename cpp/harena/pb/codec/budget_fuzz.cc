// A libFuzzer target: any wire of any type under any limits, in every mode. Nothing takes more than
// its limits allow by more than a page; what is accepted is the message that protobuf reads; what
// is refused names a limit that stands; and nothing stays behind.
//
// The head's bytes choose the type; mode, page size, who parses, and which limits there are; how
// tight they are; the pieces; and how often the wire is repeated. The rest is wire. `make fuzz`
// runs it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <google/protobuf/io/coded_stream.h>

#include "harena/pb/call/reusable.h"
#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_fuzz_input.h"
#include "harena/pb/codec/test_limited_parse.h"
#include "harena/pb/wire/walker.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::pb::codec::test {

const FuzzInputForm kFuzzInputForm{.head_bytes = 9, .subjects = &AllSubjects};

namespace {

constexpr size_t kWireBytesMax = size_t{64} << 10;

// Of the heap, by what parses.
constexpr size_t kOwnBytesMax = 1024;

struct Head {
  uint8_t type, what, limits, request_low, request_high, process, ratio, depth, pieces;
};

struct Case {
  Options options;
  size_t process_bytes_max = kUnlimitedBytes;
  size_t chunk_bytes = 1;
  std::string wire;
};

LimitedParses& ParsesOn(bool small_pages) {
  // Never destroyed, as libFuzzer ends the process wherever it stands.
  static auto* const small = new LimitedParses({.page_bytes = size_t{4} << 10});
  static auto* const usual = new LimitedParses({});
  return small_pages ? *small : *usual;
}

// Threads keep free pages, which count for the process.
void TrimPools() {
  ParsesOn(true).pool().Trim();
  ParsesOn(false).pool().Trim();
  PagePool::Default().Trim();
}

Mode ModeOf(const Subject& subject, uint8_t what) {
  constexpr Mode kModes[] = {Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec};
  const Mode mode = kModes[what % 4];
  return mode == Mode::kReuse && WhyNotReusable(*subject.prototype) ? Mode::kPages : mode;
}

size_t ChunkBytesOf(uint8_t pieces, size_t wire_bytes) {
  const size_t sizes[] = {1, 7, 64, 500, 4096, wire_bytes + 1, wire_bytes + 1, wire_bytes + 1};
  return sizes[pieces % 8];
}

std::string Repeated(std::string_view wire, uint8_t pieces) {
  std::string repeated;
  const size_t times = size_t{1} << (pieces / 8 % 10);
  for (size_t i = 0; i < times && (i == 0 || repeated.size() + wire.size() <= kWireBytesMax); ++i) {
    repeated += wire;
  }
  return repeated;
}

// The limits, as parts of what the input takes without any.
Case MakeCase(const FuzzInput& input, size_t page_bytes) {
  const Head& head = *reinterpret_cast<const Head*>(input.head);
  Case made;
  made.options.mode = ModeOf(*input.subject, head.what);
  made.wire = Repeated(input.wire, head.pieces);
  made.chunk_bytes = ChunkBytesOf(head.pieces, made.wire.size());
  const LimitedOutcome free =
      ParsesOn(head.what & 8).Run({*input.subject, made.wire, made.chunk_bytes}, made.options);
  if (head.limits & 1) {
    const size_t part = head.request_low + (size_t{head.request_high} << 8);
    made.options.request_bytes_max = 2 * page_bytes + (free.taken_bytes * part >> 15);
  }
  if (head.limits & 2) {
    made.process_bytes_max = 2 * page_bytes + (free.taken_bytes * head.process >> 7);
  }
  if (head.limits & 4) {
    made.options.decoded_ratio_max = 1 + head.ratio / 8;
    made.options.decoded_floor_bytes = page_bytes * (head.ratio % 8);
  }
  if (head.limits & 8) made.options.depth_max = 1 + head.depth % 100;
  return made;
}

// Whether a part of the wire says that it is longer than what follows, or is no wire otherwise.
bool IsBroken(const FuzzInput& input, const Case& one) {
  constexpr int kLevelsMax = 101;
  return !wire::Walk(*wire::Schemas::OfGenerated(*input.subject->prototype->GetDescriptor()),
                     one.wire, kLevelsMax)
              .whole;
}

// protobuf's own verdict, and what it writes for what it read.
std::string ParseByProtobuf(const Subject& subject, std::string_view wire, int depth_max,
                            bool* accepted) {
  const std::unique_ptr<google::protobuf::Message> message(subject.prototype->New());
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(wire.data()),
                                               static_cast<int>(wire.size()));
  if (depth_max != 0) input.SetRecursionLimit(depth_max - 1);
  *accepted = message->ParsePartialFromCodedStream(&input) && input.ConsumedEntireMessage() &&
              message->IsInitialized();
  return *accepted ? StockBytes(*message) : "";
}

// The most that may be taken.
size_t AllowedBytes(const Case& one, const LimitedOutcome& outcome, size_t page_bytes,
                    bool text_keys) {
  const bool codec = one.options.mode == Mode::kCodec;
  // What docs/budgets.md says is not bounded: a string that comes twice; keys that protobuf keeps
  // twice.
  const size_t unbounded = one.wire.size() * (1 + (text_keys ? 1 : 0));
  // protobuf's own blocks are granted the rest of one of the default pool's pages.
  const size_t slack =
      one.options.mode == Mode::kArena ? PagePool::Default().options().page_bytes : page_bytes;
  const auto plus = [](size_t a, size_t b) {
    return a > kUnlimitedBytes - b ? kUnlimitedBytes : a + b;
  };
  // In mode `codec` the message itself is made after `held_bytes` were, and before the limit.
  const size_t by_ratio = plus(one.options.decode_limits().BytesMax(one.wire.size()),
                               plus(outcome.held_bytes, codec ? page_bytes : 0));
  const size_t least = std::min({one.options.request_bytes_max, one.process_bytes_max, by_ratio});
  return plus(least, slack + kOwnBytesMax + unbounded);
}

bool Stands(const Case& one, std::string_view limit) {
  return (limit == kRequestBytesMax && one.options.request_bytes_max != kUnlimitedBytes) ||
         (limit == kProcessBytesMax && one.process_bytes_max != kUnlimitedBytes) ||
         (limit == kDecodedRatioMax && one.options.decoded_ratio_max != 0) ||
         (limit == kDepthMax && one.options.depth_max != 0);
}

std::string WrongVerdict(const Case& one, const LimitedOutcome& outcome, bool stock_accepted) {
  switch (outcome.status) {
    case ParseStatus::kOk:
      return stock_accepted ? "" : "accepted, but protobuf refuses";
    case ParseStatus::kMalformed:
      return stock_accepted ? "malformed, but protobuf accepts" : "";
    case ParseStatus::kRefused:
      break;
  }
  if (!Stands(one, outcome.refusal.limit)) {
    return std::string("refused for a limit that there is not: ") + outcome.refusal.Message();
  }
  const bool too_deep = std::string_view(outcome.refusal.limit) == kDepthMax;
  return too_deep && stock_accepted ? "too deep, but not for protobuf" : "";
}

std::string LeftBehind(const LimitedOutcome& outcome, size_t key_bytes_max, PagePool& pool) {
  if (outcome.leaked_bytes > key_bytes_max) {
    return std::to_string(outcome.leaked_bytes) + " bytes of the heap did not come back";
  }
  if (pool.stats().bytes_in_use != 0) return "pages did not come back";
  TrimPools();
  if (const size_t bytes = ProcessBudget().bytes_used(); bytes != 0) {
    return std::to_string(bytes) + " bytes of the process's budget did not come back";
  }
  return "";
}

std::string Problem(const FuzzInput& input) {
  const auto what = input.head[1];
  LimitedParses& parses = ParsesOn(what & 8);
  const size_t page_bytes = parses.pool().options().page_bytes;
  MakeTablesOf(*input.subject);
  const Case one = MakeCase(input, page_bytes);
  TrimPools();
  std::string bytes;
  const LimitedOutcome outcome = parses.Run(
      {*input.subject, one.wire, one.chunk_bytes, (what & 16) != 0, (what & 4) != 0}, one.options,
      one.process_bytes_max, [&bytes](const google::protobuf::MessageLite& message) {
        bytes = StockBytes(static_cast<const google::protobuf::Message&>(message));
      });
  bool accepted = false;
  const std::string expected =
      ParseByProtobuf(*input.subject, one.wire, one.options.depth_max, &accepted);
  std::string problem = WrongVerdict(one, outcome, accepted);
  if (outcome.status == ParseStatus::kOk && accepted && bytes != expected) {
    problem += "reads\n  " + Hex(bytes) + "\nfor\n  " + Hex(expected);
  }
  const bool text_keys = HasTextKeys(*input.subject);
  const size_t allowed = AllowedBytes(one, outcome, page_bytes, text_keys);
  // docs/budgets.md: protobuf's own code may believe what a string in such wire says.
  if (outcome.taken_bytes > allowed && !IsBroken(input, one)) {
    problem += "took " + std::to_string(outcome.taken_bytes) + " bytes of " +
               std::to_string(allowed) + " that are allowed";
  }
  const size_t key_bytes_max = text_keys ? one.wire.size() + kLostKeyBytesMax : 0;
  problem += LeftBehind(outcome, key_bytes_max, parses.pool());
  if (problem.empty()) return problem;
  return std::string(input.subject->name()) + ", mode " + std::string(ToString(one.options.mode)) +
         (what & 4 ? ", by protobuf" : ", by code") + (what & 16 ? ", kept" : "") + ", pages of " +
         std::to_string(page_bytes) + ", pieces of " + std::to_string(one.chunk_bytes) +
         ", request_bytes_max " + std::to_string(one.options.request_bytes_max) +
         ", process_bytes_max " + std::to_string(one.process_bytes_max) + ", decoded_ratio_max " +
         std::to_string(one.options.decoded_ratio_max) + ", depth_max " +
         std::to_string(one.options.depth_max) + ", status " +
         std::to_string(static_cast<int>(outcome.status)) + "\n  wire of " +
         std::to_string(one.wire.size()) + ": " + Hex(one.wire) + "\n" + problem;
}

}  // namespace
}  // namespace harena::pb::codec::test

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return FuzzOne(data, size, &Problem);
}
