// What a compressor that BoundDecompression() registered offers beside tRPC's interface. Not
// installed.
#pragma once

#include <cstddef>

#include <trpc/compressor/compressor_factory.h>

namespace harena::trpc {

/// How a decompression ended.
enum class Decompressed { kWhole, kTooLong, kMalformed };

/// Thread rule: any thread, any number of calls at once. Lifetime rule: tRPC's compressor
/// factory's.
class BoundedCompressor {
 public:
  /// The one that tRPC has registered for that type; null when that is none of Harena's.
  static const BoundedCompressor* Find(::trpc::compressor::CompressType type) {
    return dynamic_cast<const BoundedCompressor*>(
        ::trpc::compressor::CompressorFactory::GetInstance()->Get(type));
  }

  size_t bytes_max() const noexcept { return bytes_max_; }
  /// Takes memory for one byte more than bytes_max() at most, in whole blocks of tRPC's, and for
  /// what the algorithm needs. `out` changes only when the answer is kWhole.
  virtual Decompressed Decompress(const ::trpc::NoncontiguousBuffer& in,
                                  ::trpc::NoncontiguousBuffer& out) const = 0;

 protected:
  explicit BoundedCompressor(size_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  ~BoundedCompressor() = default;

 private:
  const size_t bytes_max_;
};

}  // namespace harena::trpc
