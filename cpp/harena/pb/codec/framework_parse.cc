#include "harena/pb/codec/framework_parse.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <optional>

#include "harena/base/copy_text.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/decode_ceiling.h"
#include "harena/pb/codec/flat_parse.h"
#include "harena/pb/codec/scratch.h"
#include "harena/pb/layout/parse_context.h"

#if HARENA_CODEC
namespace harena::pb::codec {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::internal::ParseContext;

// The rest of a context's input, gathered.
class Rest {
 public:
  Rest(PagePool& pool, Budget& budget) noexcept : scratch_(pool, &budget) {}

  // Where it ends in the context; null when it does not. Throws BudgetExceeded.
  const char* Gather(ParseContext& context, const char* ptr) {
    bytes_ = scratch_.Take(1);
    return layout::ReadRest(context, ptr, [&](const char* data, size_t size) {
      if (size > INT_MAX - size_) return false;
      if (size_ + size > scratch_.bytes()) {
        bytes_ = scratch_.Grow(std::max(size_ + size, 2 * size_), size_);
      }
      CopyMuch(bytes_ + size_, data, size);
      size_ += size;
      return true;
    });
  }

  size_t size() const noexcept { return size_; }
  static bool Copy(void* rest, char* to) {
    const auto& from = *static_cast<const Rest*>(rest);
    CopyMuch(to, from.bytes_, from.size_);
    return true;
  }

 private:
  Scratch scratch_;
  char* bytes_ = nullptr;
  size_t size_ = 0;
};

Parser::Options OptionsFor(MessageArena& messages, Parser::Result result, OutsideCharge* outside,
                           int levels_below_max) {
  return {.result = result,
          .pool = &messages.pool(),
          .outside = outside,
          .strings = messages.codec() ? &messages.strings() : nullptr,
          .levels_below_max = levels_below_max};
}

}  // namespace

// What the expected parse may touch of its arena.
class ExpectedParse {
 public:
  // Once: what a second parse finds is not empty any more, and is for protobuf to change.
  explicit ExpectedParse(MessageArena& messages) noexcept
      : messages_(messages), timer_(messages.parse_nanos_) {
    messages.expected_ = nullptr;
  }

  // Whether there is a reason not to leave it to protobuf.
  bool IsOurs() const noexcept {
    const DecodeLimits& limits = messages_.decode_limits_;
    return messages_.codec() || limits.depth_max != 0 || IsLimited(messages_.budget(), limits);
  }

  const char* Run(MessageLite& message, const MessageParser& type, const char* ptr,
                  ParseContext& context) {
    const BudgetFrame frame(messages_.budget());
    Rest rest(messages_.pool(), messages_.budget());
    ptr = rest.Gather(context, ptr);
    if (ptr == nullptr) return nullptr;
    const bool limited = IsLimited(messages_.budget(), messages_.decode_limits_);
    const DecodeLimits limits =
        messages_.codec() ? messages_.decode_limits_.OrDefault() : messages_.decode_limits_;
    const DecodeCeiling ceiling(messages_.budget(), limits, rest.size());
    try {
      const FlatResult result = ParseFlat(
          message, messages_.arena(), type,
          OptionsFor(messages_, messages_.codec() ? Parser::Result::kFrozen : Parser::Result::kOpen,
                     &messages_.outside_, LevelsBelow(context)),
          rest.size(), &Rest::Copy, &rest);
      if (result.too_deep) ThrowIfDepthIsLimited(limits);
      const bool lacking = limited && result.required_in_doubt && LacksRequired(message);
      return result.ok && !lacking ? ptr : nullptr;
    } catch (const BudgetExceeded& exceeded) {
      throw BudgetExceeded(ceiling.Explained(exceeded.refusal()));
    }
  }

  void Refuse(const Refusal& refusal) noexcept { messages_.refused_parse_ = refusal; }
  void CountMalformed() noexcept { messages_.malformed_parse_ = true; }

 private:
  int LevelsBelow(const ParseContext& context) const noexcept {
    const int depth_max = messages_.decode_limits_.depth_max;
    return depth_max == 0 ? context.depth() : std::min(context.depth(), depth_max - 1);
  }
  // Asked within a limit, where protobuf would list what is missing, each by its path: a list that
  // may be a hundred times the wire.
  bool LacksRequired(const MessageLite& message) const {
    return messages_.required_fields_ == RequiredFields::kMustBeThere && !message.IsInitialized();
  }

  MessageArena& messages_;
  const StepTimer timer_;
};

namespace {

// The framework's frames stand below this one: no exception passes it.
const char* ParseExpected(MessageArena& messages, MessageLite& message, const MessageParser& type,
                          const char* ptr, ParseContext& context, StockParse stock,
                          void* state) noexcept {
  ExpectedParse parse(messages);
  try {
    const char* const end = parse.IsOurs() ? parse.Run(message, type, ptr, context) : stock(state);
    if (end == nullptr) parse.CountMalformed();
    return end;
  } catch (const std::bad_alloc& refused) {
    parse.Refuse(RefusalOf(refused));
    return nullptr;
  }
}

// A parse that a user has begun, or protobuf for a part of another message.
const char* ParseUnexpected(MessageArena& messages, MessageLite& message, const MessageParser& type,
                            const char* ptr, ParseContext& context, StockParse stock, void* state) {
  // Only the bytes themselves tell where a message ends that is a group, so all of them have to be
  // there, and what is behind it left where it is.
  const std::optional<size_t> bytes = layout::RestInBuffer(context, ptr);
  if (!bytes) return stock(state);
  Budget* const budget = BudgetFrame::Current();
  Scratch scratch(messages.pool(), budget);
  Refusal refusal;
  char* const wire = scratch.TryTake(*bytes + kWireSlackBytes, &refusal);
  if (wire == nullptr) {
    // A frame says that somebody catches this.
    if (budget != nullptr) throw BudgetExceeded(refusal);
    return stock(state);
  }
  CopyMuch(wire, ptr, *bytes);
  std::memset(wire + *bytes, 0, kWireSlackBytes);
  Parser parser(messages.arena(),
                OptionsFor(messages, Parser::Result::kOpen, nullptr, context.depth()));
  if (type.parse(message, wire, wire + *bytes, parser)) return ptr + *bytes;
  uint32_t tag;
  const char* const end = parser.TakeEnd(&tag);
  if (end == nullptr || end > wire + *bytes) return nullptr;
  context.SetLastTag(tag);
  return ptr + (end - wire);
}

}  // namespace

const char* ParseInContext(MessageArena& messages, MessageLite& message, const MessageParser& type,
                           const char* ptr, ParseContext& context, StockParse stock, void* state) {
  if (HARENA_UNLIKELY(messages.Expects(message))) {
    return ParseExpected(messages, message, type, ptr, context, stock, state);
  }
  return messages.codec() ? ParseUnexpected(messages, message, type, ptr, context, stock, state)
                          : stock(state);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
