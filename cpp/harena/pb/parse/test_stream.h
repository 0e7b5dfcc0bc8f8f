// A stream that comes in blocks, as network buffers do. Not installed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <google/protobuf/io/zero_copy_stream.h>

#include "harena/base/check.h"

namespace harena::pb::test {

/// What a stream may be asked to take back: bytes of the block that it gave last, once. gRPC's own
/// reader ends the process over more than that, so each stream of the tests does too.
class LastBlock {
 public:
  void Give(size_t bytes) noexcept { bytes_ = bytes; }
  void TakeBack(int count) noexcept {
    HARENA_CHECK(count >= 0 && static_cast<size_t>(count) <= bytes_,
                 "a stream was backed up further than the last block it gave out");
    bytes_ = 0;
  }

 private:
  size_t bytes_ = 0;
};

/// A wire that is given out in blocks, one after the other.
class BlockStream : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit BlockStream(std::string_view wire) : wire_(wire) {}

  void BackUp(int count) override {
    last_block_.TakeBack(count);
    at_ -= static_cast<size_t>(count);
  }
  bool Skip(int count) override {
    last_block_.Give(0);
    const size_t skipped = std::min(static_cast<size_t>(count), wire_.size() - at_);
    at_ += skipped;
    return skipped == static_cast<size_t>(count);
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(at_); }

 protected:
  bool AtEnd() const noexcept { return at_ == wire_.size(); }
  /// The next block, of `bytes_max` bytes at most.
  std::string_view Take(size_t bytes_max) noexcept {
    const std::string_view block = wire_.substr(at_, bytes_max);
    last_block_.Give(block.size());
    at_ += block.size();
    return block;
  }

 private:
  const std::string_view wire_;
  LastBlock last_block_;
  size_t at_ = 0;
};

class ChunkedStream final : public BlockStream {
 public:
  ChunkedStream(std::string_view wire, size_t chunk_bytes)
      : BlockStream(wire), chunk_bytes_(chunk_bytes) {}

  bool Next(const void** data, int* size) override {
    if (AtEnd()) return false;
    const std::string_view block = Take(chunk_bytes_);
    *data = block.data();
    *size = static_cast<int>(block.size());
    return true;
  }

 private:
  const size_t chunk_bytes_;
};

}  // namespace harena::pb::test
