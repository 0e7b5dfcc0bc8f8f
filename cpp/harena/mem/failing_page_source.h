// A page source for tests: it refuses when told to, and knows what is still mapped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "harena/mem/page_source.h"

namespace harena {

/// Passes through to the system until `FailAfter(n)`: then n further Map() calls succeed and every
/// later one returns nullptr, until `Heal()`. A loop over n visits every out-of-memory path.
/// Thread rule: any thread. Lifetime rule: must outlive the pools built on it.
class FailingPageSource {
 public:
  void FailAfter(int64_t successes) noexcept { left_.store(successes); }
  void Heal() noexcept { left_.store(std::numeric_limits<int64_t>::max()); }
  /// From now on Decommit() does nothing and returns false, as on locked memory.
  void FailDecommit(bool fail) noexcept { fail_decommit_.store(fail); }

  void* Map(size_t bytes, size_t alignment) noexcept {
    int64_t left = left_.load();
    while (left > 0 && !left_.compare_exchange_weak(left, left - 1)) {
    }
    if (left <= 0) {
      refused_.fetch_add(1);
      return nullptr;
    }
    void* data = SystemPageSource::Instance().Map(bytes, alignment);
    if (data != nullptr) mapped_bytes_.fetch_add(static_cast<int64_t>(bytes));
    return data;
  }
  void Unmap(void* data, size_t bytes) noexcept {
    mapped_bytes_.fetch_sub(static_cast<int64_t>(bytes));
    SystemPageSource::Instance().Unmap(data, bytes);
  }
  bool Decommit(void* data, size_t bytes) noexcept {
    if (fail_decommit_.load()) return false;
    decommitted_bytes_.fetch_add(static_cast<int64_t>(bytes));
    return SystemPageSource::Instance().Decommit(data, bytes);
  }
  bool AdviseHuge(void*, size_t) noexcept {
    advised_.fetch_add(1);
    return false;
  }

  int64_t mapped_bytes() const noexcept { return mapped_bytes_.load(); }
  int64_t decommitted_bytes() const noexcept { return decommitted_bytes_.load(); }
  int64_t refused() const noexcept { return refused_.load(); }
  int64_t advised() const noexcept { return advised_.load(); }

 private:
  std::atomic<int64_t> left_{std::numeric_limits<int64_t>::max()};
  std::atomic<bool> fail_decommit_{false};
  std::atomic<int64_t> mapped_bytes_{0};
  std::atomic<int64_t> decommitted_bytes_{0};
  std::atomic<int64_t> refused_{0};
  std::atomic<int64_t> advised_{0};
};
static_assert(PageSource<FailingPageSource>);

}  // namespace harena
