// What streams have in common that stand between an input and protobuf's parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <google/protobuf/io/zero_copy_stream.h>

#include "harena/mem/budget.h"

namespace harena::pb::wire {

/// Gives out another stream's first `wire_bytes` bytes, unless a budget refuses: then the input
/// ends, and so does the parse. Thread rule: the scope's thread. Lifetime rule: `input` must
/// outlive it.
class RefusingStream : public google::protobuf::io::ZeroCopyInputStream {
 public:
  RefusingStream(const RefusingStream&) = delete;
  RefusingStream& operator=(const RefusingStream&) = delete;

  bool Skip(int count) final {
    const void* data;
    int size;
    while (count > 0) {
      if (!Next(&data, &size)) return false;
      if (size > count) BackUp(size - count);
      count -= std::min(size, count);
    }
    return true;
  }
  int64_t ByteCount() const final { return static_cast<int64_t>(at_); }

  bool refused() const noexcept { return refused_; }
  const Refusal& refusal() const noexcept { return refusal_; }

 protected:
  RefusingStream(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes) noexcept
      : input_(input), wire_bytes_(wire_bytes) {}

  google::protobuf::io::ZeroCopyInputStream& input_;
  const size_t wire_bytes_;
  size_t at_ = 0;  // bytes given out and not given back
  bool refused_ = false;
  Refusal refusal_;
};

}  // namespace harena::pb::wire
