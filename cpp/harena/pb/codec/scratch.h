// Memory for as long as one parse takes.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "harena/base/compiler.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"

namespace harena::pb::codec {

/// Bytes that go back with their owner: a few of its own, more from a page pool, which count
/// against a request's budget while they are there. Thread rule: one thread. Lifetime rule: pool
/// and budget must outlive it.
class Scratch {
 public:
  /// `budget` null: counted against the process's alone, which the pool does.
  Scratch(PagePool& pool, Budget* budget) noexcept : pool_(pool), budget_(budget) {}
  ~Scratch() { Free(block_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// At least `bytes_min` bytes, aligned to 8, for as long as this stands. Null when a budget or
  /// the system refuses; `*refusal` then says which. REQUIRES: nothing was taken yet.
  HARENA_INLINE char* TryTake(size_t bytes_min, Refusal* refusal) noexcept {
    return HARENA_LIKELY(bytes_min <= sizeof(own_)) ? own_ : TryTakeBlock(bytes_min, refusal);
  }
  /// The same. Throws BudgetExceeded.
  HARENA_INLINE char* Take(size_t bytes_min) {
    Refusal refusal;
    char* const bytes = TryTake(bytes_min, &refusal);
    if (HARENA_UNLIKELY(bytes == nullptr)) throw BudgetExceeded(refusal);
    return bytes;
  }
  /// More bytes in place of what was taken, of which the first `bytes_used` are the same as there.
  /// Throws BudgetExceeded.
  char* Grow(size_t bytes_min, size_t bytes_used) {
    const Block before = std::exchange(block_, Block{});
    const char* const from = before ? static_cast<const char*>(before.data) : own_;
    Refusal refusal;
    char* const grown = TryTake(bytes_min, &refusal);
    if (grown == nullptr) {
      block_ = before;
      throw BudgetExceeded(refusal);
    }
    std::memmove(grown, from, bytes_used);
    Free(before);
    return grown;
  }
  /// What there is, which may be more than was taken.
  size_t bytes() const noexcept { return block_ ? block_.bytes : sizeof(own_); }

 private:
  char* TryTakeBlock(size_t bytes_min, Refusal* refusal) noexcept {
    const size_t bytes = pool_.BlockBytes(bytes_min);
    if (budget_ != nullptr && !budget_->TryCharge(bytes, pool_.options().page_bytes, refusal)) {
      return nullptr;
    }
    block_ = pool_.TryAllocate(bytes, refusal);
    if (!block_ && budget_ != nullptr) budget_->Refund(bytes);
    return static_cast<char*>(block_.data);
  }
  void Free(const Block& block) noexcept {
    if (HARENA_LIKELY(!block)) return;
    if (budget_ != nullptr) budget_->Refund(block.bytes);
    pool_.Free(block.data, block.bytes);
  }

  PagePool& pool_;
  Budget* const budget_;
  Block block_{};  // empty while its own bytes are enough
  alignas(8) char own_[2048];
};

}  // namespace harena::pb::codec
