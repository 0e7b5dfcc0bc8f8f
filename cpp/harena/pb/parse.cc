#include "harena/pb/parse.h"

#include <climits>
#include <new>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "harena/pb/budget_frame.h"

namespace harena::pb {

ParseResult Parse(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                  google::protobuf::MessageLite& message) noexcept {
  ParseResult result;
  if (wire_bytes > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  if (!scope.TryChargeOutside(wire_bytes, &result.refusal)) {
    result.status = ParseStatus::kRefused;
    return result;
  }
  // The exception from the block hook ends here, in our own frame: it has unwound protobuf's parser
  // and nothing else.
  try {
    BudgetFrame frame(scope.budget());
    // Bounded: without an end protobuf believes a string's declared length, up to 50 MB, and
    // reserves it.
    if (!message.ParseFromBoundedZeroCopyStream(&input, static_cast<int>(wire_bytes))) {
      result.status = ParseStatus::kMalformed;
    }
  } catch (const BudgetExceeded& exceeded) {
    result = {.status = ParseStatus::kRefused, .refusal = exceeded.refusal()};
  } catch (const std::bad_alloc&) {
    result = {.status = ParseStatus::kRefused, .refusal = {.bytes_wanted = wire_bytes}};
  }
  return result;
}

ParseResult Parse(Scope& scope, std::string_view wire,
                  google::protobuf::MessageLite& message) noexcept {
  if (wire.size() > INT_MAX) return {.status = ParseStatus::kMalformed, .refusal = {}};
  google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()));
  return Parse(scope, input, wire.size(), message);
}

}  // namespace harena::pb
