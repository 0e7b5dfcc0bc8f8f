#include "harena/adapters/trpc/decompression.h"

#include <lz4frame.h>
#include <snappy.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>

#include <trpc/compressor/gzip/gzip_compressor.h>
#include <trpc/compressor/lz4/lz4_compressor.h>
#include <trpc/compressor/snappy/snappy_compressor.h>
#include <trpc/compressor/zlib/zlib_compressor.h>

#include "harena/adapters/trpc/bounded_compressor.h"
#include "harena/base/check.h"

namespace harena::trpc {
namespace {

using ::trpc::NoncontiguousBuffer;
using ::trpc::compressor::Compressor;
using ::trpc::compressor::CompressorFactory;

// Grows by tRPC's blocks, up to the bound and one byte, by which a longer body shows itself.
class BoundedOutput {
 public:
  explicit BoundedOutput(size_t bytes_max) noexcept : bytes_left_(bytes_max) {}

  // Never empty while it is not too long.
  std::span<char> Room() const noexcept {
    const size_t block_bytes = builder_.SizeAvailable();
    return {builder_.data(), bytes_left_ < block_bytes ? bytes_left_ + 1 : block_bytes};
  }
  void Wrote(size_t bytes) {
    too_long_ = bytes > bytes_left_;
    if (too_long_) return;
    bytes_left_ -= bytes;
    if (bytes != 0) builder_.MarkWritten(bytes);
  }
  bool too_long() const noexcept { return too_long_; }
  NoncontiguousBuffer Take() { return builder_.DestructiveGet(); }

 private:
  ::trpc::NoncontiguousBufferBuilder builder_;
  size_t bytes_left_;
  bool too_long_ = false;
};

template <int kWindowBits>
Decompressed Inflate(const NoncontiguousBuffer& in, size_t bytes_max, NoncontiguousBuffer& out) {
  BoundedOutput made(bytes_max);
  z_stream stream{};
  if (inflateInit2(&stream, kWindowBits) != Z_OK) return Decompressed::kMalformed;
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ended(&stream, &inflateEnd);
  for (auto piece = in.begin(); piece != in.end(); ++piece) {
    stream.next_in = reinterpret_cast<Bytef*>(piece->data());
    stream.avail_in = static_cast<uInt>(piece->size());
    do {
      const std::span<char> room = made.Room();
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      const int result = inflate(&stream, Z_NO_FLUSH);
      made.Wrote(room.size() - stream.avail_out);
      if (made.too_long()) return Decompressed::kTooLong;
      if (result == Z_STREAM_END) {
        out = made.Take();
        return Decompressed::kWhole;
      }
      // Z_BUF_ERROR: it can go no further without more of the input.
      if (result != Z_OK && result != Z_BUF_ERROR) return Decompressed::kMalformed;
    } while (stream.avail_in != 0 || stream.avail_out == 0);
  }
  return Decompressed::kMalformed;
}

Decompressed DecompressLz4(const NoncontiguousBuffer& in, size_t bytes_max,
                           NoncontiguousBuffer& out) {
  BoundedOutput made(bytes_max);
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
    return Decompressed::kMalformed;
  }
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> ended(
      context, &LZ4F_freeDecompressionContext);
  size_t bytes_left = in.ByteSize();
  for (auto piece = in.begin(); piece != in.end(); ++piece) {
    std::span<const char> rest(piece->data(), piece->size());
    bool full = false;
    do {
      const std::span<char> room = made.Room();
      size_t wrote = room.size();
      size_t read = rest.size();
      const size_t result =
          LZ4F_decompress(context, room.data(), &wrote, rest.data(), &read, nullptr);
      if (LZ4F_isError(result)) return Decompressed::kMalformed;
      rest = rest.subspan(read);
      bytes_left -= read;
      full = wrote == room.size();
      made.Wrote(wrote);
      if (made.too_long()) return Decompressed::kTooLong;
      if (result == 0) {
        if (bytes_left != 0) return Decompressed::kMalformed;
        out = made.Take();
        return Decompressed::kWhole;
      }
    } while (!rest.empty() || full);
  }
  return Decompressed::kMalformed;
}

// Snappy's bytes begin with the length of what they become, and it never writes more.
template <typename Trpcs>
Decompressed DecompressSnappy(const NoncontiguousBuffer& in, size_t bytes_max,
                              NoncontiguousBuffer& out) {
  constexpr size_t kLengthBytesMax = 5;
  const std::string start = ::trpc::FlattenSlow(in, kLengthBytesMax);
  size_t bytes = 0;
  if (!snappy::GetUncompressedLength(start.data(), start.size(), &bytes)) {
    return Decompressed::kMalformed;
  }
  if (bytes > bytes_max) return Decompressed::kTooLong;
  Trpcs trpcs;
  return static_cast<Compressor&>(trpcs).Decompress(in, out) ? Decompressed::kWhole
                                                             : Decompressed::kMalformed;
}

// One of tRPC's, but for how it decompresses.
template <typename Trpcs, Decompressed (*kDecompress)(const NoncontiguousBuffer&, size_t bytes_max,
                                                      NoncontiguousBuffer& out)>
class Bounded final : public Trpcs, public BoundedCompressor {
 public:
  explicit Bounded(size_t bytes_max) noexcept : BoundedCompressor(bytes_max) {}

  Decompressed Decompress(const NoncontiguousBuffer& in, NoncontiguousBuffer& out) const override {
    return in.ByteSize() == 0 ? Decompressed::kMalformed : kDecompress(in, bytes_max(), out);
  }

 private:
  bool DoDecompress(const NoncontiguousBuffer& in, NoncontiguousBuffer& out) override {
    return Decompress(in, out) == Decompressed::kWhole;
  }
};

template <typename Trpcs, auto kDecompress>
void Bound(size_t bytes_max) {
  using Ours = Bounded<Trpcs, kDecompress>;
  CompressorFactory& factory = *CompressorFactory::GetInstance();
  const Compressor* const registered = factory.Get(Trpcs().Type());
  HARENA_CHECK(registered != nullptr,
               "BoundDecompression() was called before tRPC has registered its compressors; call "
               "it in Initialize()");
  if (typeid(*registered) != typeid(Trpcs) && typeid(*registered) != typeid(Ours)) return;
  factory.Register(::trpc::MakeRefCounted<Ours>(bytes_max));
}

}  // namespace

void BoundDecompression(size_t bytes_max) {
  using namespace ::trpc::compressor;
  HARENA_CHECK(bytes_max != 0, "BoundDecompression(0): the bound must not be 0");
  Bound<GzipCompressor, &Inflate<MAX_WBITS + 16>>(bytes_max);
  Bound<ZlibCompressor, &Inflate<MAX_WBITS>>(bytes_max);
  Bound<SnappyCompressor, &DecompressSnappy<SnappyCompressor>>(bytes_max);
  Bound<SnappyBlockCompressor, &DecompressSnappy<SnappyBlockCompressor>>(bytes_max);
  Bound<Lz4FrameCompressor, &DecompressLz4>(bytes_max);
}

}  // namespace harena::trpc
