#include "harena/pb/parse/parse.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>

#include "harena/base/copy_text.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/decode_ceiling.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/codec/flat_parse.h"
#include "harena/pb/codec/scratch.h"
#include "harena/pb/layout/raw_string.h"
#include "harena/pb/wire/heap_charge.h"

namespace harena::pb {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::io::CodedInputStream;
using pb_internal::Input;
using pb_internal::Result;

int LevelsBelow(const DecodeLimits& limits) noexcept {
  return limits.depth_max != 0 ? limits.depth_max - 1
                               : CodedInputStream::GetDefaultRecursionLimit();
}

// Brings an input's bytes to one place. False when there are more or fewer of them.
bool CopyInput(const Input& input, char* to) {
  if (input.stream == nullptr) {
    CopyMuch(to, input.flat, input.bytes);
    return true;
  }
  const void* data;
  int size;
  for (size_t left = input.bytes; left != 0; left -= static_cast<size_t>(size)) {
    if (!input.stream->Next(&data, &size) || static_cast<size_t>(size) > left) return false;
    CopyMuch(to, static_cast<const char*>(data), static_cast<size_t>(size));
    to += size;
  }
  return true;
}

// Whether no required field is missing. protobuf says in the log which ones are, by their paths, a
// list that may be a hundred times the wire; so within limits it is not asked to.
template <std::same_as<MessageLite> Lite>
bool IsComplete(const Lite& message, bool limited) {
  if constexpr (requires { message.IsInitializedWithErrors(); }) {
    if (!limited) return message.IsInitializedWithErrors();
  }
  return message.IsInitialized();
}

// One parse.
class Parsing {
 public:
  Parsing(Scope& scope, const Input& input, MessageLite& message,
          [[maybe_unused]] const codec::MessageParser* type) noexcept
      : scope_(scope),
        input_(input),
        message_(message),
        limited_(IsLimited(scope.budget(), scope.decode_limits())) {
#if HARENA_CODEC
    if (type != nullptr && TakesCode()) type_ = type;
#endif
  }

  /// What it is held to, beside the scope's budget.
  DecodeLimits limits() const noexcept {
    const bool has_default = type_ != nullptr && scope_.mode() == Mode::kCodec;
    return has_default ? scope_.decode_limits().OrDefault() : scope_.decode_limits();
  }

  // Whether the input was a message. Throws BudgetExceeded, and what a stream throws.
  bool Run([[maybe_unused]] Result result) {
#if HARENA_CODEC
    if (type_ != nullptr) return ByCode(result);
#endif
    if (input_.stream == nullptr) return ByProtobuf({input_.flat, input_.bytes});
    codec::Scratch scratch(*scope_.arena().options().pool, &scope_.budget());
    char* const wire = scratch.Take(input_.bytes);
    return CopyInput(input_, wire) && ByProtobuf({wire, input_.bytes});
  }

 private:
#if HARENA_CODEC
  // Whether there is a reason to take the generated parser: all that it reads is counted, and in
  // mode `codec` it is the faster one.
  bool TakesCode() const noexcept {
    const google::protobuf::Arena* const arena = message_.GetArena();
    if (arena == nullptr) return false;
    return scope_.mode() == Mode::kCodec ? MessageArena::FindCodec(arena) != nullptr : limited_;
  }

  bool ByCode(Result result) {
    const bool codec = scope_.mode() == Mode::kCodec;
    const bool frozen = codec && result == Result::kFrozen;
    if (!frozen) message_.Clear();
    const codec::FlatResult parsed = codec::ParseFlat(
        message_, *message_.GetArena(), *type_,
        {.result = frozen ? codec::Parser::Result::kFrozen : codec::Parser::Result::kOpen,
         .pool = scope_.arena().options().pool,
         .outside = &scope_.outside(),
         .strings = codec ? &MessageArena::Of(scope_).strings() : nullptr,
         .levels_below_max = LevelsBelow(scope_.decode_limits())},
        input_.bytes,
        [](void* self, char* to) { return CopyInput(static_cast<Parsing*>(self)->input_, to); },
        this);
    if (parsed.too_deep) ThrowIfDepthIsLimited(scope_.decode_limits());
    if (!parsed.ok) return false;
    if (!parsed.required_in_doubt) return true;
    return frozen ? message_.IsInitialized() : IsComplete(message_, limited_);
  }
#endif

  bool ByProtobuf(std::string_view wire) {
    const int levels_below = LevelsBelow(scope_.decode_limits());
    const auto* const full = dynamic_cast<const google::protobuf::Message*>(&message_);
    const auto* const type = full == nullptr ? nullptr : full->GetDescriptor();
    wire::ChargeHeap(scope_.outside(), type, wire, levels_below + 1, 0);
    CodedInputStream coded(reinterpret_cast<const uint8_t*>(wire.data()),
                           static_cast<int>(wire.size()));
    coded.SetRecursionLimit(levels_below);
    message_.Clear();
    if (message_.MergePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage()) {
      return IsComplete(message_, limited_);
    }
    if (type != nullptr && scope_.decode_limits().depth_max != 0 &&
        wire::NestsDeeper(*type, wire, levels_below + 1)) {
      ThrowIfDepthIsLimited(scope_.decode_limits());
    }
    return false;
  }

  Scope& scope_;
  const Input& input_;
  MessageLite& message_;
  const bool limited_;
  const codec::MessageParser* type_ = nullptr;  // null: by protobuf's own parser
};

}  // namespace

ParseResult pb_internal::ParseInput(Scope& scope, const Input& input, MessageLite& message,
                                    const codec::MessageParser* type, Result result) noexcept {
  const StepTimer timer(scope.parse_nanos());
  scope.CountWire(input.bytes);
  if (input.bytes > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  Parsing parsing(scope, input, message, type);
  const DecodeCeiling ceiling(scope.budget(), parsing.limits(), input.bytes);
  // The exception from the block hook ends here, in our own frame: it has unwound the parser and
  // nothing else.
  try {
    const BudgetFrame frame(scope.budget());
    const bool ok = parsing.Run(result);
    return {.status = ok ? ParseStatus::kOk : ParseStatus::kMalformed, .refusal = {}};
  } catch (const BudgetExceeded& exceeded) {
    return {.status = ParseStatus::kRefused, .refusal = ceiling.Explained(exceeded.refusal())};
  } catch (const std::bad_alloc&) {
    return {.status = ParseStatus::kRefused, .refusal = {.bytes_wanted = input.bytes}};
  } catch (...) {
    return {.status = ParseStatus::kMalformed, .refusal = {}};  // the stream's own
  }
}

std::string MissingFields(Scope& scope, const MessageLite& message) {
  if (!IsLimited(scope.budget(), scope.decode_limits())) {
    return message.InitializationErrorString();
  }
  return message.IsInitialized() ? std::string() : "required fields are missing";
}

}  // namespace harena::pb
