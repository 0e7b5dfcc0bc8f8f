// The methods of a server, found by descriptor on every request.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "harena/pb/call/method.h"

namespace harena::brpc {

struct MethodEntry {
  const google::protobuf::MethodDescriptor* descriptor = nullptr;
  std::shared_ptr<pb::Method> method;  ///< Null for a method that Harena leaves alone.
};

/// Entries come and never go.
/// Thread rule: Find() from any thread, wait-free; Add() from one thread at a time.
/// Lifetime rule: entries live as long as the table.
class MethodTable {
 public:
  MethodTable() = default;
  ~MethodTable() {
    for (auto& first : firsts_) {
      for (const Node* node = first.load(); node != nullptr;)
        delete std::exchange(node, node->next);
    }
  }
  MethodTable(const MethodTable&) = delete;
  MethodTable& operator=(const MethodTable&) = delete;

  /// Null when it was not added.
  const MethodEntry* Find(const google::protobuf::MethodDescriptor* descriptor) const noexcept {
    for (const Node* node = FirstOf(descriptor).load(std::memory_order_acquire); node != nullptr;
         node = node->next) {
      if (node->entry.descriptor == descriptor) return &node->entry;
    }
    return nullptr;
  }

  struct Node {
    MethodEntry entry;
    const Node* next = nullptr;
  };

  const MethodEntry& Add(std::unique_ptr<Node> node) noexcept {
    std::atomic<const Node*>& first = FirstOf(node->entry.descriptor);
    node->next = first.load(std::memory_order_relaxed);
    first.store(node.get(), std::memory_order_release);
    return node.release()->entry;
  }

 private:
  static constexpr size_t kListBits = 8;

  size_t IndexOf(const google::protobuf::MethodDescriptor* descriptor) const noexcept {
    const auto address = reinterpret_cast<uintptr_t>(descriptor);
    return address * uint64_t{0x9e3779b97f4a7c15} >> (64 - kListBits);
  }
  const std::atomic<const Node*>& FirstOf(
      const google::protobuf::MethodDescriptor* descriptor) const noexcept {
    return firsts_[IndexOf(descriptor)];
  }
  std::atomic<const Node*>& FirstOf(const google::protobuf::MethodDescriptor* descriptor) noexcept {
    return firsts_[IndexOf(descriptor)];
  }

  std::array<std::atomic<const Node*>, size_t{1} << kListBits> firsts_{};
};

}  // namespace harena::brpc
