// A stream that comes in pieces, as network buffers do. Not installed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <google/protobuf/io/zero_copy_stream.h>

namespace harena::pb::test {

class ChunkedStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  ChunkedStream(std::string_view wire, size_t chunk_bytes)
      : wire_(wire), chunk_bytes_(chunk_bytes) {}

  bool Next(const void** data, int* size) override {
    if (at_ == wire_.size()) return false;
    const size_t bytes = std::min(chunk_bytes_, wire_.size() - at_);
    *data = wire_.data() + at_;
    *size = static_cast<int>(bytes);
    at_ += bytes;
    return true;
  }
  void BackUp(int count) override { at_ -= static_cast<size_t>(count); }
  bool Skip(int count) override {
    const size_t skipped = std::min(static_cast<size_t>(count), wire_.size() - at_);
    at_ += skipped;
    return skipped == static_cast<size_t>(count);
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(at_); }

 private:
  const std::string_view wire_;
  const size_t chunk_bytes_;
  size_t at_ = 0;
};

}  // namespace harena::pb::test
