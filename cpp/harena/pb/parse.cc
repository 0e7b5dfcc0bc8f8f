#include "harena/pb/parse.h"

#include <algorithm>
#include <climits>
#include <concepts>
#include <new>
#include <optional>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/parse_context.h>

#include "harena/pb/budget_frame.h"
#include "harena/pb/codec/bounded_parse.h"
#include "harena/pb/codec/builder.h"
#include "harena/pb/layout/string_image.h"
#include "harena/pb/wire/checked_stream.h"
#include "harena/pb/wire/counted_stream.h"
#include "harena/pb/wire/heap_meter.h"
#include "harena/pb/wire/length_check.h"
#include "harena/pb/wire/length_tags.h"
#include "harena/pb/wire/metered_stream.h"
#include "harena/pb/wire/shape.h"
#include "harena/pb/wire/walker.h"

namespace harena::pb {
namespace codec {
class Builder;
}
namespace {

using google::protobuf::Message;
using google::protobuf::MessageLite;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::ZeroCopyInputStream;

// Counts a parse for the scope's method, and times it where the scope is timed.
class CountedParse {
 public:
  CountedParse(Scope& scope, size_t wire_bytes) noexcept : timer_(scope.parse_nanos()) {
    scope.CountWire(wire_bytes);
  }

 private:
  const StepTimer timer_;
};

// decoded_ratio_max while one request is parsed.
class RatioCeiling {
 public:
  RatioCeiling(Scope& scope, size_t wire_bytes) noexcept
      : limits_(scope.decode_limits()),
        wire_bytes_(wire_bytes),
        held_bytes_(scope.budget().bytes_used()),
        ceiling_(scope.budget(), kDecodedRatioMax, Sum(held_bytes_, limits_.BytesMax(wire_bytes))) {
  }

  // Says of a refusal by this ceiling what it was made of.
  ParseResult Explained(ParseResult result) const noexcept {
    Refusal& refusal = result.refusal;
    if (result.status != ParseStatus::kRefused || refusal.limit != kDecodedRatioMax) return result;
    refusal.bytes_max -= held_bytes_;
    refusal.bytes_used -= held_bytes_;
    refusal.ratio_max = limits_.ratio_max;
    refusal.floor_bytes = limits_.floor_bytes;
    refusal.wire_bytes = wire_bytes_;
    return result;
  }

 private:
  static size_t Sum(size_t a, size_t b) noexcept {
    return a > kUnlimitedBytes - b ? kUnlimitedBytes : a + b;
  }

  const DecodeLimits& limits_;
  const size_t wire_bytes_;
  const size_t held_bytes_;
  const BudgetCeiling ceiling_;
};

size_t Room(const Budget& budget) noexcept {
  const size_t bytes_max = budget.bytes_max();
  return bytes_max - std::min(bytes_max, budget.bytes_used());
}

// What a lying length in protobuf's own code is believed to be longer than the input. More costs
// less to look for, and has to be held.
#if HARENA_CODEC
constexpr size_t kLieBytes = wire::LengthCheck::kUnnoticedBytes;
constexpr size_t kHeldLieBytes = wire::LengthCheck::kMuchHeldBytes;
#else
constexpr size_t kLieBytes = 0, kHeldLieBytes = 0;
#endif

// The most that a request can take of the heap beside its wire's own bytes, kept free while it is
// parsed. Looking through the wire would tell how much it really is, and costs half a parse; so
// that is left to requests for which the most would be a good part of what they may take.
class HeapReserve {
 public:
  HeapReserve(Scope& scope, size_t wire_bytes) noexcept : budget_(scope.budget()) {
    constexpr size_t kGoodPart = 8;
    const size_t room_bytes = std::min(Room(budget_), Room(ProcessBudget())) / kGoodPart;
    const size_t most_bytes = wire::kHeapBytesPerByte * wire_bytes;
    enough_ = most_bytes <= room_bytes;
    if (!enough_ || !budget_.limited()) return;
    enough_ = budget_.TryCharge(most_bytes);
    if (!enough_) return;
    bytes_ = most_bytes;
    HoldSpare(room_bytes - most_bytes);
  }
  ~HeapReserve() {
    if (bytes_ + spare_bytes_ != 0) budget_.Refund(bytes_ + spare_bytes_);
    if (process_spare_bytes_ != 0) ProcessBudget().Refund(process_spare_bytes_);
  }
  HeapReserve(const HeapReserve&) = delete;
  HeapReserve& operator=(const HeapReserve&) = delete;

  bool enough() const noexcept { return enough_; }
  // What a length may say too much within it.
  size_t lie_bytes() const noexcept { return spare_bytes_ != 0 ? kHeldLieBytes : kLieBytes; }

 private:
  // As the meter does, of both budgets.
  void HoldSpare([[maybe_unused]] size_t bytes_max) noexcept {
#if HARENA_CODEC
    if (kHeldLieBytes > bytes_max || !wire::ProcessMaySpare(kHeldLieBytes)) return;
    if (ProcessBudget().limited()) {
      if (!ProcessBudget().TryCharge(kHeldLieBytes)) return;
      process_spare_bytes_ = kHeldLieBytes;
    }
    if (budget_.TryCharge(kHeldLieBytes)) spare_bytes_ = kHeldLieBytes;
#endif
  }

  Budget& budget_;
  bool enough_;
  size_t bytes_ = 0;
  size_t spare_bytes_ = 0;
  size_t process_spare_bytes_ = 0;
};

int LevelsMax(const DecodeLimits& limits) noexcept {
  return limits.depth_max != 0 ? limits.depth_max
                               : CodedInputStream::GetDefaultRecursionLimit() + 1;
}

Refusal TooDeep(const DecodeLimits& limits) noexcept {
  return {.limit = kDepthMax, .levels_max = limits.depth_max};
}

// The shape of a message's type, for as long as this stands. None for the lite runtime's.
class ShapeOf {
 public:
  explicit ShapeOf(const MessageLite& message) {
    const auto* const full = dynamic_cast<const Message*>(&message);
    if (full == nullptr) return;
    shape_ = wire::Shapes::OfGenerated(*full->GetDescriptor());
    if (shape_ == nullptr) shape_ = &own_.emplace().Of(*full->GetDescriptor());
  }
  const wire::Shape* get() const noexcept { return shape_; }

 private:
  const wire::Shape* shape_ = nullptr;
  std::optional<wire::Shapes> own_;
};

#if HARENA_CODEC
using google::protobuf::internal::ParseContext;

// What protobuf's ParsePartialFromBoundedZeroCopyStream() does, with a limit of our own, a context
// that `begin` is shown, and one difference: protobuf backs the stream up before it knows whether
// the message ended where it had to. One that ends early may leave more unread than the last block,
// and gRPC's reader ends the process when it is backed up further than that.
template <typename Begin>
bool ParsePartialWith(ZeroCopyInputStream& input, size_t wire_bytes, int levels_max,
                      MessageLite& message, Begin begin) {
  message.Clear();
  const char* at;
  ParseContext context(levels_max - 1, false, &at, &input, static_cast<int>(wire_bytes));
  begin(context);
  at = message._InternalParse(at, &context);
  if (at == nullptr || !context.EndedAtLimit()) return false;
  context.BackUp(at);
  return true;
}

bool ParsePartialChecked(wire::CheckedStream& input, size_t wire_bytes, int levels_max,
                         MessageLite& message) {
  const bool ok = ParsePartialWith(input, wire_bytes, levels_max, message,
                                   [&](ParseContext& context) { input.Watch(context); });
  return ok && !input.lied();
}
#endif

#if HARENA_CODEC
bool ParsePartialBounded(ZeroCopyInputStream& input, size_t wire_bytes, int levels_max,
                         MessageLite& message) {
  return ParsePartialWith(input, wire_bytes, levels_max, message, [](ParseContext&) {});
}
#else
// A stream that ends there, and not protobuf's function with a limit, which backs up the stream
// further than its last block. protobuf then believes the length that a string declares up to 50
// MB, and reserves it, before it looks whether the bytes are there.
bool ParsePartialBounded(ZeroCopyInputStream& input, size_t wire_bytes, int /*levels_max*/,
                         MessageLite& message) {
  google::protobuf::io::LimitingInputStream limited(&input, static_cast<int64_t>(wire_bytes));
  return message.ParsePartialFromZeroCopyStream(&limited);
}
#endif

#if HARENA_CODEC
// Within limits, but for what is looked at otherwise: no message in it is believed to be longer
// than the input by more than `lie_bytes`. `tags` are the message's.
bool ParsePartialLimited(ZeroCopyInputStream& input, size_t wire_bytes, int levels_max,
                         MessageLite& message, const wire::LengthTags& tags, size_t lie_bytes) {
  if (tags.empty()) return ParsePartialBounded(input, wire_bytes, levels_max, message);
  wire::CheckedStream checked(input, wire_bytes, &tags, lie_bytes);
  return ParsePartialChecked(checked, wire_bytes, levels_max, message);
}
#endif

// The same for who does not know the tags. With other versions of protobuf no length is looked at.
bool ParsePartialLimited(ZeroCopyInputStream& input, size_t wire_bytes, int levels_max,
                         MessageLite& message, [[maybe_unused]] size_t lie_bytes) {
#if HARENA_CODEC
  return ParsePartialLimited(input, wire_bytes, levels_max, message, wire::LengthTags::Of(message),
                             lie_bytes);
#else
  return ParsePartialBounded(input, wire_bytes, levels_max, message);
#endif
}

// Where protobuf's own parser does not count levels as we do.
bool DepthNeedsWalk(const Scope& scope) noexcept {
  return HARENA_CODEC == 0 && scope.decode_limits().depth_max != 0;
}

bool Unlimited(Scope& scope) noexcept {
  return !IsBounded(scope.budget()) && !DepthNeedsWalk(scope);
}

// Whether no required field is missing. protobuf says in the log which ones are, by their paths, a
// list that may be a hundred times the wire; so within limits it is not asked to.
template <std::same_as<MessageLite> Lite>
bool IsComplete(Scope& scope, const Lite& message) {
  if constexpr (requires { message.IsInitializedWithErrors(); }) {
    if (Unlimited(scope)) return message.IsInitializedWithErrors();
  }
  return message.IsInitialized();
}

ParseStatus StatusOf(bool ok) noexcept { return ok ? ParseStatus::kOk : ParseStatus::kMalformed; }

// Where nothing is metered: looks at the wire before protobuf gets it.
template <typename Finish>
bool ParseWalking(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes, int levels_max,
                  MessageLite& message, wire::Strings strings, Finish finish) {
  Refusal refusal;
  const ShapeOf shape(message);
  if (shape.get() == nullptr) {
    // Its unknown fields are one string, which doubles.
    if (!scope.TryChargeOutside(2 * wire_bytes, &refusal)) throw BudgetExceeded(refusal);
    return ParsePartialLimited(input, wire_bytes, levels_max, message, kLieBytes) && finish();
  }
  if (!scope.TryChargeOutside(wire::Walker::OwnBytes(levels_max), &refusal)) {
    throw BudgetExceeded(refusal);
  }
  wire::Walker walker(*shape.get(), wire_bytes, levels_max, strings);
  wire::CountedStream counted(input, wire_bytes, scope, walker);
  const bool ok = ParsePartialBounded(counted, wire_bytes, levels_max, message) && finish();
  if (counted.refused()) throw BudgetExceeded(counted.refusal());
  const DecodeLimits& limits = scope.decode_limits();
  if (!ok && walker.too_deep() && limits.depth_max != 0) throw BudgetExceeded(TooDeep(limits));
  return ok;
}

#if HARENA_CODEC
// Tells a builder who meters, for as long as this stands.
class MeteredBuilder {
 public:
  MeteredBuilder(codec::Builder& builder, wire::MeteredStream& metered) noexcept
      : builder_(builder) {
    builder_.set_metered(&metered);
  }
  ~MeteredBuilder() { builder_.set_metered(nullptr); }
  MeteredBuilder(const MeteredBuilder&) = delete;
  MeteredBuilder& operator=(const MeteredBuilder&) = delete;

 private:
  codec::Builder& builder_;
};

// Parses from `input` as the meter lets through.
template <typename Finish>
bool ParseMetered(wire::HeapMeter& meter, wire::MeteredStream& input, size_t wire_bytes,
                  int levels_max, MessageLite& message, Finish finish) {
  const bool ok = ParsePartialChecked(input, wire_bytes, levels_max, message) && finish();
  if (input.refused()) throw BudgetExceeded(input.refusal());
  if (input.metering() && !meter.Finish()) throw BudgetExceeded(meter.refusal());
  return ok;
}

// Parses while what the input may take is held, and `spare_bytes` beside, for lies; for 0 these are
// looked for more closely. Null when there is no room for that.
template <typename Finish>
std::optional<bool> TryParseHolding(wire::HeapMeter& meter, ZeroCopyInputStream& input,
                                    size_t wire_bytes, int levels_max, MessageLite& message,
                                    const wire::LengthTags& tags, size_t spare_bytes,
                                    Finish finish) {
  const size_t lie_bytes = std::max(spare_bytes, kLieBytes);
  if (meter.TryAll(spare_bytes)) {
    const bool ok =
        ParsePartialLimited(input, wire_bytes, levels_max, message, tags, lie_bytes) && finish();
    if (!meter.Finish()) throw BudgetExceeded(meter.refusal());
    return ok;
  }
  if (!meter.MayTryPieces(spare_bytes)) return std::nullopt;
  wire::MeteredStream metered(input, wire_bytes, &tags, meter, lie_bytes);
  metered.Begin();
  return ParseMetered(meter, metered, wire_bytes, levels_max, message, finish);
}
#endif

// What parsing within a budget takes, after `builder`, if any, was told who meters.
template <typename Finish>
bool ParseLimited(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes, int levels_max,
                  MessageLite& message, codec::Builder* builder, Finish finish) {
  const auto strings = builder == nullptr ? wire::Strings::kOnHeap : wire::Strings::kOnScope;
#if HARENA_CODEC
  const google::protobuf::Arena* const arena = message.GetArena();
  if (wire::HeapMeter::Works(scope, arena) && wire::ReadsInOrder(message)) {
    wire::HeapMeter meter(scope, *arena, wire_bytes);
    if (builder != nullptr) {
      wire::MeteredStream metered(input, wire_bytes, &wire::LengthTags::Of(message), meter);
      const MeteredBuilder metering(*builder, metered);
      return ParseMetered(meter, metered, wire_bytes, levels_max, message, finish);
    }
    const wire::LengthTags& tags = wire::LengthTags::Of(message);
    const auto holding = [&](size_t spare_bytes) {
      return TryParseHolding(meter, input, wire_bytes, levels_max, message, tags, spare_bytes,
                             finish);
    };
    std::optional<bool> ok;
    if (!tags.empty()) ok = holding(kHeldLieBytes);
    if (!ok && !tags.empty()) ok = holding(wire::LengthCheck::kHeldBytes);
    if (!ok) ok = holding(0);
    if (ok) return *ok;
    return ParseWalking(scope, input, wire_bytes, levels_max, message, strings, finish);
  }
#endif
  const HeapReserve reserve(scope, wire_bytes);
  if (reserve.enough() && !DepthNeedsWalk(scope)) {
    return ParsePartialLimited(input, wire_bytes, levels_max, message, reserve.lie_bytes()) &&
           finish();
  }
  return ParseWalking(scope, input, wire_bytes, levels_max, message, strings, finish);
}

// Parses within the scope's limits. `finish` is asked about what was parsed.
template <typename Finish>
ParseResult Guarded(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes,
                    MessageLite& message, codec::Builder* builder, Finish finish) noexcept {
  const int levels_max = LevelsMax(scope.decode_limits());
  // The exception from the block hook ends here, in our own frame: it has unwound the parser and
  // nothing else.
  try {
    const BudgetFrame frame(scope.budget());
#if HARENA_CODEC
    const codec::BoundedParse bounded(message.GetArena());
#endif
    if (Unlimited(scope)) {
      return {.status =
                  StatusOf(ParsePartialBounded(input, wire_bytes, levels_max, message) && finish()),
              .refusal = {}};
    }
    return {.status = StatusOf(
                ParseLimited(scope, input, wire_bytes, levels_max, message, builder, finish)),
            .refusal = {}};
  } catch (const BudgetExceeded& exceeded) {
    return {.status = ParseStatus::kRefused, .refusal = exceeded.refusal()};
  } catch (const std::bad_alloc&) {
    return {.status = ParseStatus::kRefused, .refusal = {.bytes_wanted = wire_bytes}};
  } catch (...) {
    return {.status = ParseStatus::kMalformed, .refusal = {}};  // the stream's own
  }
}

ParseResult ExplainMalformed(Scope& scope, std::string_view wire, const MessageLite& message,
                             ParseResult result) noexcept {
  if (result.status != ParseStatus::kMalformed) return result;
  ArrayInputStream again(wire.data(), static_cast<int>(wire.size()));
  return pb::ExplainMalformed(scope, again, wire.size(), message);
}

}  // namespace

ParseResult ExplainMalformed(Scope& scope, ZeroCopyInputStream& again, size_t wire_bytes,
                             const MessageLite& message) noexcept {
  const DecodeLimits& limits = scope.decode_limits();
  constexpr ParseResult kMalformed{.status = ParseStatus::kMalformed, .refusal = {}};
  if (limits.depth_max == 0) return kMalformed;
  try {
    const ShapeOf shape(message);
    if (shape.get() == nullptr) return kMalformed;
    wire::Walker walker(*shape.get(), wire_bytes, limits.depth_max, wire::Strings::kOnScope);
    const void* data;
    int size;
    for (size_t left = wire_bytes; left != 0 && again.Next(&data, &size);) {
      const size_t bytes = std::min(left, static_cast<size_t>(size));
      if (!walker.Walk(static_cast<const char*>(data), bytes)) break;
      left -= bytes;
    }
    if (!walker.too_deep()) return kMalformed;
    return {.status = ParseStatus::kRefused, .refusal = TooDeep(limits)};
  } catch (const std::bad_alloc&) {
    return kMalformed;  // and nobody can say why
  }
}

ParseResult Parse(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes,
                  MessageLite& message) noexcept {
  const CountedParse counted(scope, wire_bytes);
  if (wire_bytes > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  const RatioCeiling ceiling(scope, wire_bytes);
  ParseResult result{.status = ParseStatus::kRefused, .refusal = {}};
  if (scope.TryChargeOutside(wire_bytes, &result.refusal)) {
    result = Guarded(scope, input, wire_bytes, message, nullptr,
                     [&] { return IsComplete(scope, message); });
  }
  return ceiling.Explained(result);
}

ParseResult Parse(Scope& scope, std::string_view wire, MessageLite& message) noexcept {
  if (wire.size() > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  ArrayInputStream input(wire.data(), static_cast<int>(wire.size()));
  return ExplainMalformed(scope, wire, message, Parse(scope, input, wire.size(), message));
}

std::string MissingFields(Scope& scope, const MessageLite& message) {
  if (Unlimited(scope)) return message.InitializationErrorString();
  return message.IsInitialized() ? std::string() : "required fields are missing";
}

#if HARENA_CODEC
ParseResult ParseFrozenInto(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes,
                            MessageLite& message, bool has_codec) noexcept {
  if (!has_codec || scope.mode() != Mode::kCodec || !layout::StringImagesWork()) {
    return Parse(scope, input, wire_bytes, message);
  }
  const CountedParse counted(scope, wire_bytes);
  if (wire_bytes > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  const RatioCeiling ceiling(scope, wire_bytes);
  // String bodies are not charged beforehand: the scope holds them and is charged as it grows.
  codec::Builder builder(scope, wire_bytes);
  const codec::BuilderFrame frame(builder);
  ParseResult result = Guarded(scope, input, wire_bytes, message, &builder, [&] {
    return !builder.required_in_doubt() || message.IsInitialized();
  });
  if (builder.refused()) result = {.status = ParseStatus::kRefused, .refusal = builder.refusal()};
  return ceiling.Explained(result);
}
#else
ParseResult ParseFrozenInto(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes,
                            MessageLite& message, bool /*has_codec*/) noexcept {
  return Parse(scope, input, wire_bytes, message);
}
#endif

ParseResult ParseFrozenInto(Scope& scope, std::string_view wire, MessageLite& message,
                            bool has_codec) noexcept {
  if (wire.size() > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  ArrayInputStream input(wire.data(), static_cast<int>(wire.size()));
  return ExplainMalformed(scope, wire, message,
                          ParseFrozenInto(scope, input, wire.size(), message, has_codec));
}

}  // namespace harena::pb
