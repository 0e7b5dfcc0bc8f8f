// Streams that come and go in pieces of chosen sizes. Not installed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/io/zero_copy_stream.h>

#include "harena/pb/parse/test_stream.h"

namespace harena::pb::codec::test {

/// The sizes of a stream's pieces, over and over. Zeros are empty pieces. Not all may be zero.
using ChunkSizes = std::vector<int>;

/// Gives out copies of the wire, each in memory of its own and exactly as long as the piece, so
/// that AddressSanitizer sees who reads beyond; scribbles over them at the end, so that everybody
/// sees who still holds on to them.
class ChunkInputStream final : public pb::test::BlockStream {
 public:
  ChunkInputStream(std::string_view wire, ChunkSizes sizes)
      : BlockStream(wire), sizes_(std::move(sizes)) {}
  ~ChunkInputStream() {
    for (const Piece& piece : pieces_) std::memset(piece.data.get(), 0xdb, piece.size);
  }
  ChunkInputStream(const ChunkInputStream&) = delete;
  ChunkInputStream& operator=(const ChunkInputStream&) = delete;

  bool Next(const void** data, int* size) override {
    if (AtEnd()) return false;
    const std::string_view block = Take(static_cast<size_t>(sizes_[next_++ % sizes_.size()]));
    auto copy = std::make_unique<char[]>(block.size());
    if (!block.empty()) std::memcpy(copy.get(), block.data(), block.size());
    *data = copy.get();
    *size = static_cast<int>(block.size());
    pieces_.push_back({std::move(copy), block.size()});
    return true;
  }

 private:
  struct Piece {
    std::unique_ptr<char[]> data;
    size_t size;
  };

  const ChunkSizes sizes_;
  std::vector<Piece> pieces_;
  size_t next_ = 0;
};

/// Takes bytes in pieces.
class ChunkOutputStream final : public google::protobuf::io::ZeroCopyOutputStream {
 public:
  explicit ChunkOutputStream(ChunkSizes sizes) : sizes_(std::move(sizes)) {}

  bool Next(void** data, int* size) override {
    Flush();
    piece_.assign(static_cast<size_t>(sizes_[next_++ % sizes_.size()]), '\0');
    *data = piece_.data();
    *size = static_cast<int>(piece_.size());
    last_block_.Give(piece_.size());
    return true;
  }
  void BackUp(int count) override {
    last_block_.TakeBack(count);
    piece_.resize(piece_.size() - static_cast<size_t>(count));
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(bytes_.size() + piece_.size()); }

  const std::string& bytes() {
    Flush();
    return bytes_;
  }

 private:
  void Flush() {
    bytes_.append(piece_.begin(), piece_.end());
    piece_.clear();
  }

  const ChunkSizes sizes_;
  std::string bytes_;
  std::vector<char> piece_;
  pb::test::LastBlock last_block_;
  size_t next_ = 0;
};

}  // namespace harena::pb::codec::test
