// An input that protobuf gets in pieces, as its budgets allow.
#pragma once

#include <cstddef>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/parse_context.h>

#include "harena/pb/wire/checked_stream.h"
#include "harena/pb/wire/heap_meter.h"

#if HARENA_CODEC
namespace harena::pb::wire {

/// Gives out another stream's bytes: as they come until Begin(), and from then on in pieces that
/// the meter has allowed. A refusal ends the input, and so the parse. Thread rule: the scope's
/// thread. Lifetime rule: both must outlive it; when it ends, `input` goes on behind what was read.
class MeteredStream final : public CheckedStream {
 public:
  MeteredStream(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                const LengthTags* tags, HeapMeter& meter,
                size_t unnoticed_bytes = LengthCheck::kUnnoticedBytes) noexcept
      : CheckedStream(input, wire_bytes, tags, unnoticed_bytes), meter_(meter) {}

  /// Meters what is read from now on: before anything is.
  void Begin() noexcept { metering_ = true; }
  /// The same from `ptr` on, which `context` has come to. What it has got and not read is taken
  /// back but for the first piece. False when that is refused, and on later calls too.
  bool Begin(google::protobuf::internal::ParseContext& context, const char* ptr) noexcept;
  bool metering() const noexcept { return metering_; }

 protected:
  size_t Allowed(size_t bytes_left) noexcept override;

 private:
  size_t NextPiece(size_t bytes_left) noexcept;

  HeapMeter& meter_;
  bool metering_ = false;
  size_t allowed_until_ = 0;  // position
};

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
