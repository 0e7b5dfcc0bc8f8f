// An input that protobuf gets in pieces, as its budgets allow.
#pragma once

#include <cstddef>
#include <cstdint>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/parse_context.h>

#include "harena/mem/budget.h"
#include "harena/pb/wire/heap_meter.h"

#if HARENA_CODEC
namespace harena::pb::wire {

/// Gives out another stream's bytes: as they come until Begin(), and from then on in pieces that
/// the meter has allowed. A refusal ends the input, and so the parse. Thread rule: the scope's
/// thread. Lifetime rule: both must outlive it; when it ends, `input` goes on behind what was read.
class MeteredStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  MeteredStream(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                HeapMeter& meter) noexcept
      : input_(input), wire_bytes_(wire_bytes), meter_(meter) {}
  ~MeteredStream() override;
  MeteredStream(const MeteredStream&) = delete;
  MeteredStream& operator=(const MeteredStream&) = delete;

  /// Meters what is read from now on: before anything is.
  void Begin() noexcept { metering_ = true; }
  /// The same from `ptr` on, which `context` has come to. What it has got and not read is taken
  /// back but for the first piece. False when that is refused, and on later calls too.
  bool Begin(google::protobuf::internal::ParseContext& context, const char* ptr) noexcept;
  bool metering() const noexcept { return metering_; }

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  int64_t ByteCount() const override { return static_cast<int64_t>(at_); }

  bool refused() const noexcept { return refused_; }
  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  size_t Allowed(size_t bytes_left) noexcept;

  google::protobuf::io::ZeroCopyInputStream& input_;
  const size_t wire_bytes_;
  HeapMeter& meter_;
  bool metering_ = false;
  bool refused_ = false;
  size_t at_ = 0;
  // What has come and was not given out, or was given back.
  const char* chunk_ = nullptr;
  size_t chunk_bytes_ = 0;
  Refusal refusal_;
};

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
