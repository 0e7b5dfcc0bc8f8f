#include "harena/pb/parse.h"

#include <climits>
#include <new>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "harena/pb/budget_frame.h"
#include "harena/pb/codec/builder.h"
#include "harena/pb/layout/string_image.h"

namespace harena::pb {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::ZeroCopyInputStream;

// `parse` says whether the bytes were a message.
template <typename ParseFunction>
ParseResult Guarded(Scope& scope, size_t wire_bytes, ParseFunction parse) noexcept {
  // The exception from the block hook ends here, in our own frame: it has unwound the parser and
  // nothing else.
  try {
    BudgetFrame frame(scope.budget());
    return {.status = parse() ? ParseStatus::kOk : ParseStatus::kMalformed, .refusal = {}};
  } catch (const BudgetExceeded& exceeded) {
    return {.status = ParseStatus::kRefused, .refusal = exceeded.refusal()};
  } catch (const std::bad_alloc&) {
    return {.status = ParseStatus::kRefused, .refusal = {.bytes_wanted = wire_bytes}};
  }
}

// Bounded: without an end protobuf believes a string's declared length, up to 50 MB, and reserves
// it.
bool ParseBounded(ZeroCopyInputStream& input, size_t wire_bytes, MessageLite& message) {
  return message.ParseFromBoundedZeroCopyStream(&input, static_cast<int>(wire_bytes));
}

}  // namespace

ParseResult Parse(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes,
                  MessageLite& message) noexcept {
  if (wire_bytes > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  ParseResult refused{.status = ParseStatus::kRefused, .refusal = {}};
  if (!scope.TryChargeOutside(wire_bytes, &refused.refusal)) return refused;
  return Guarded(scope, wire_bytes, [&] { return ParseBounded(input, wire_bytes, message); });
}

ParseResult Parse(Scope& scope, std::string_view wire, MessageLite& message) noexcept {
  if (wire.size() > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  ArrayInputStream input(wire.data(), static_cast<int>(wire.size()));
  return Parse(scope, input, wire.size(), message);
}

#if HARENA_CODEC
ParseResult ParseFrozenInto(Scope& scope, ZeroCopyInputStream& input, size_t wire_bytes,
                            MessageLite& message, bool has_codec) noexcept {
  if (!has_codec || scope.mode() != Mode::kCodec || !layout::StringImagesWork()) {
    return Parse(scope, input, wire_bytes, message);
  }
  if (wire_bytes > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  // String bodies are not charged beforehand: the scope holds them and is charged as it grows.
  codec::Builder builder(scope, wire_bytes);
  ParseResult result = Guarded(scope, wire_bytes, [&] {
    codec::BuilderFrame frame(builder);
    if (!message.ParsePartialFromBoundedZeroCopyStream(&input, static_cast<int>(wire_bytes))) {
      return false;
    }
    return !builder.required_in_doubt() || message.IsInitialized();
  });
  if (builder.refused()) result = {.status = ParseStatus::kRefused, .refusal = builder.refusal()};
  return result;
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
  return ParseFrozenInto(scope, input, wire.size(), message, has_codec);
}

}  // namespace harena::pb
