#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <google/protobuf/message_lite.h>

#include "harena/mem/page_pool.h"

namespace harena::pb {

/// A message as it was written, at the start of the block that holds what was written.
struct Written {
  const google::protobuf::MessageLite* message;
  const uint8_t* data;
  size_t size;
  size_t block_bytes;
};

/// What was written last of the messages of one scope, and not copied yet.
/// Thread rule: any thread. Lifetime rule: frees what nobody has copied when the scope ends.
class LastWritten {
 public:
  struct Free {
    PagePool* pool;
    void operator()(Written* written) const noexcept { pool->Free(written, written->block_bytes); }
  };
  using Owner = std::unique_ptr<Written, Free>;

  explicit LastWritten(PagePool& pool) noexcept : pool_(pool) {}
  ~LastWritten() { Drop(); }
  LastWritten(const LastWritten&) = delete;
  LastWritten& operator=(const LastWritten&) = delete;

  /// Of the scope: what Put() gets comes from it.
  PagePool& pool() const noexcept { return pool_; }

  /// Replaces what is there.
  void Put(Owner written) noexcept {
    const Owner before(last_.exchange(written.release(), std::memory_order_acq_rel), {&pool_});
  }
  /// What is there, or null; then it is there no more.
  Owner Take() noexcept {
    if (last_.load(std::memory_order_relaxed) == nullptr) return {nullptr, {&pool_}};
    return {last_.exchange(nullptr, std::memory_order_acq_rel), {&pool_}};
  }
  void Drop() noexcept { Take(); }

  /// Blocks that were taken from the pool to write to, those that went back included.
  uint64_t blocks() const noexcept { return blocks_.load(std::memory_order_relaxed); }
  void CountBlocks(uint64_t taken) noexcept { blocks_.fetch_add(taken, std::memory_order_relaxed); }

 private:
  PagePool& pool_;
  std::atomic<uint64_t> blocks_{0};
  std::atomic<Written*> last_{nullptr};
};

}  // namespace harena::pb
