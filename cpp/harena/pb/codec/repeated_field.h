// The repeated fields of messages that have a codec.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <google/protobuf/arena.h>
#include <google/protobuf/repeated_field.h>

#include "harena/base/compiler.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/layout/value_array.h"

#if HARENA_CODEC && HARENA_PROTOBUF_3_21
namespace harena::pb::codec {

/// An array's elements with twice the room, `*capacity` elements then, for a field whose message is
/// on `arena`; null when that is no scope of mode `codec`, or another thread's, or the array would
/// be large. Throws std::bad_alloc.
void* TryGrowArray(google::protobuf::Arena* arena, void* elements, size_t element_bytes,
                   int* capacity);

/// Memory for a message on `arena`, or null, for the same reasons.
void* TryPlaceMessage(google::protobuf::Arena* arena, size_t bytes);

/// Adds an element. In a scope of mode `codec` it takes no malloc.
void AddString(google::protobuf::RepeatedPtrField<std::string>& field, std::string_view text);
void AddString(google::protobuf::RepeatedPtrField<std::string>& field, const std::string& text);
void AddString(google::protobuf::RepeatedPtrField<std::string>& field, std::string&& text);

/// Adds copies of the elements of `from`. In a scope of mode `codec` it takes no malloc for each.
void MergeStrings(google::protobuf::RepeatedPtrField<std::string>& field,
                  const google::protobuf::RepeatedPtrField<std::string>& from);

}  // namespace harena::pb::codec

namespace google::protobuf {

/// What stands in for RepeatedField in the generated class, where the field itself lies: it holds
/// one and hands it out, and does the one thing otherwise that is worth it: growing by one. The
/// result is what RepeatedField could have made, so whoever has a pointer to it may do anything.
template <typename T>
class HarenaRepeatedField {
  using Stock = google::protobuf::RepeatedField<T>;

 public:
  // Generated code calls the destructor by this name.
  using RepeatedField = HarenaRepeatedField;

  constexpr HarenaRepeatedField() = default;
  explicit HarenaRepeatedField(Arena* arena) : field_(arena) {}

  Stock& stock() noexcept { return field_; }
  const Stock& stock() const noexcept { return field_; }
  operator const Stock&() const noexcept { return field_; }  // NOLINT(google-explicit-constructor)
  Stock* operator&() noexcept { return &field_; }            // NOLINT(google-runtime-operator)

  int size() const { return field_.size(); }
  const T* data() const { return field_.data(); }
  T Get(int index) const { return field_.Get(index); }
  void Set(int index, T value) { field_.Set(index, value); }
  void Clear() { field_.Clear(); }
  void MergeFrom(const Stock& from) { field_.MergeFrom(from); }
  void InternalSwap(Stock* other) { field_.InternalSwap(other); }

  void Add(T value) {
    namespace layout = harena::pb::layout;
    int& size = layout::SizeOf(field_);
    if (HARENA_UNLIKELY(size == layout::CapacityOf(field_)) && !TryGrow()) {
      field_.Add(value);
      return;
    }
    static_cast<T*>(layout::ElementsOf(field_))[size++] = value;
  }

 private:
  HARENA_NOINLINE bool TryGrow() {
    namespace layout = harena::pb::layout;
    int& capacity = layout::CapacityOf(field_);
    void*& elements = layout::ElementsOf(field_);
    void* const grown = harena::pb::codec::TryGrowArray(
        field_.GetArena(), capacity == 0 ? nullptr : elements, sizeof(T), &capacity);
    if (grown == nullptr) return false;
    elements = grown;
    return true;
  }

  Stock field_;
};

/// The same for RepeatedPtrField.
template <typename T>
class HarenaRepeatedPtrField {
  using Stock = google::protobuf::RepeatedPtrField<T>;
  static constexpr bool kStrings = std::is_same_v<T, std::string>;

 public:
  using RepeatedPtrField = HarenaRepeatedPtrField;

  constexpr HarenaRepeatedPtrField() = default;
  explicit HarenaRepeatedPtrField(Arena* arena) : field_(arena) {}

  Stock& stock() noexcept { return field_; }
  const Stock& stock() const noexcept { return field_; }
  operator const Stock&() const noexcept { return field_; }  // NOLINT(google-explicit-constructor)
  Stock* operator&() noexcept { return &field_; }            // NOLINT(google-runtime-operator)

  int size() const { return field_.size(); }
  const T& Get(int index) const { return field_.Get(index); }
  T* Mutable(int index) { return field_.Mutable(index); }
  auto begin() const { return field_.begin(); }
  auto end() const { return field_.end(); }
  void Clear() { field_.Clear(); }
  void InternalSwap(Stock* other) { field_.InternalSwap(other); }

  void MergeFrom(const Stock& from) {
    if constexpr (kStrings) {
      harena::pb::codec::MergeStrings(field_, from);
    } else {
      field_.MergeFrom(from);
    }
  }

  /// What generated code does with a new string, so that it is made with its content at once.
  class NewString {
   public:
    explicit NewString(Stock& field) noexcept : field_(field) {}
    NewString* operator->() noexcept { return this; }
    void assign(std::string_view text) { harena::pb::codec::AddString(field_, text); }
    void assign(const std::string& text) { harena::pb::codec::AddString(field_, text); }
    void assign(const char* text) { assign(std::string_view(text)); }
    void assign(const char* text, size_t bytes) { assign(std::string_view(text, bytes)); }
    operator std::string*() {  // NOLINT(google-explicit-constructor)
      assign(std::string_view());
      return field_.Mutable(field_.size() - 1);
    }

   private:
    Stock& field_;
  };

  auto Add() {
    if constexpr (kStrings) {
      return NewString(field_);
    } else {
      return AddMessage();
    }
  }
  void Add(std::string&& text) { harena::pb::codec::AddString(field_, std::move(text)); }

 private:
  T* AddMessage() {
    Arena* const arena = field_.GetArena();
    if constexpr (harena::pb::codec::HasCodec<T>) {
      if (arena != nullptr && field_.ClearedCount() == 0) {
        if (void* place = harena::pb::codec::TryPlaceMessage(arena, sizeof(T))) {
          T* const message = harena::pb::codec::Access::New<T>(place, arena);
          field_.UnsafeArenaAddAllocated(message);
          return message;
        }
      }
    }
    return field_.Add();
  }

  Stock field_;
};

namespace internal {

// For the generated IsInitialized().
template <typename T>
bool AllAreInitialized(const HarenaRepeatedPtrField<T>& field) {
  return AllAreInitialized(field.stock());
}

}  // namespace internal
}  // namespace google::protobuf
#endif  // HARENA_PROTOBUF_3_21
