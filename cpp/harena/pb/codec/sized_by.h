#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harena/base/compiler.h"

namespace harena::pb::codec {

/// Who computed a message's size last, by the message's address. Messages that share a place only
/// cost each other a second writing.
/// Thread rule: any thread; handing a message from thread to thread orders its entries too.
class SizedBy {
 public:
  /// Nobody whose bytes may be used.
  static constexpr uint64_t kNobody = 0;

  HARENA_INLINE static void Set(const void* message, uint64_t token) noexcept {
    SlotOf(message).store(token, std::memory_order_relaxed);
  }
  static bool Is(const void* message, uint64_t token) noexcept {
    return SlotOf(message).load(std::memory_order_relaxed) == token;
  }
  /// Unique in the process.
  static uint64_t NextToken() noexcept;

 private:
  static constexpr size_t kSlots = 4096;
  HARENA_INLINE static std::atomic<uint64_t>& SlotOf(const void* message) noexcept {
    const auto address = reinterpret_cast<uintptr_t>(message);
    return slots_[(address * 0x9e3779b97f4a7c15 >> 32) % kSlots];
  }
  static std::array<std::atomic<uint64_t>, kSlots> slots_;
};

}  // namespace harena::pb::codec
