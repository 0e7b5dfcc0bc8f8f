// The methods of a server, found by descriptor on every request.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <google/protobuf/descriptor.h>

#include "harena/pb/call/method.h"

namespace harena::brpc {

struct MethodEntry {
  const google::protobuf::MethodDescriptor* descriptor = nullptr;
  std::shared_ptr<pb::Method> method;  ///< Null for a method that Harena leaves alone.
  const MethodEntry* next = nullptr;   ///< The table's own.
};

/// Entries come and never go.
/// Thread rule: Find() from any thread, wait-free; Add() from one thread at a time.
/// Lifetime rule: entries live as long as the table.
class MethodTable {
 public:
  MethodTable() = default;
  ~MethodTable() {
    for (auto& first : firsts_) {
      for (const MethodEntry* entry = first.load(); entry != nullptr;)
        delete std::exchange(entry, entry->next);
    }
  }
  MethodTable(const MethodTable&) = delete;
  MethodTable& operator=(const MethodTable&) = delete;

  /// Null when it was not added.
  const MethodEntry* Find(const google::protobuf::MethodDescriptor* descriptor) const noexcept {
    const MethodEntry* entry = firsts_[IndexOf(descriptor)].load(std::memory_order_acquire);
    while (entry != nullptr && entry->descriptor != descriptor) entry = entry->next;
    return entry;
  }

  const MethodEntry& Add(std::unique_ptr<MethodEntry> entry) noexcept {
    std::atomic<const MethodEntry*>& first = firsts_[IndexOf(entry->descriptor)];
    entry->next = first.load(std::memory_order_relaxed);
    first.store(entry.get(), std::memory_order_release);
    return *entry.release();
  }

 private:
  static constexpr size_t kListBits = 8;

  static size_t IndexOf(const google::protobuf::MethodDescriptor* descriptor) noexcept {
    const auto address = reinterpret_cast<uintptr_t>(descriptor);
    return address * uint64_t{0x9e3779b97f4a7c15} >> (64 - kListBits);
  }

  std::array<std::atomic<const MethodEntry*>, size_t{1} << kListBits> firsts_{};
};

}  // namespace harena::brpc
