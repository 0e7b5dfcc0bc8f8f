#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <google/protobuf/arena.h>

namespace harena::pb::codec {

/// The ordinary strings of one scope's messages: objects in slabs on the scope's protobuf arena,
/// bodies from MakeString(). One cleanup of the arena ends a whole slab.
///
/// Thread rule: strings are made by the thread that made the store; on any other, TryMake() answers
/// null and the caller goes protobuf's way. Lifetime rule: its strings end when the arena is reset
/// or ends, which must be while the store stands.
class StringStore {
 public:
  explicit StringStore(google::protobuf::Arena& arena) noexcept;
  StringStore(const StringStore&) = delete;
  StringStore& operator=(const StringStore&) = delete;

  /// A string with that content, or null when this is another thread than the store's.
  /// Throws std::bad_alloc, and what the arena's block hook throws.
  std::string* TryMake(std::string_view text);
  /// The same, taking the body over.
  std::string* TryMake(std::string&& text);

 private:
  struct Slab;

  void* TryPlace();
  void AddSlab();

  google::protobuf::Arena& arena_;
  const void* const thread_;
  Slab* newest_ = nullptr;
};

}  // namespace harena::pb::codec
