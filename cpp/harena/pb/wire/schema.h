// What a message type makes of each field that its wire may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace harena::pb::wire {

enum WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

/// The most bytes that protobuf reads of a tag, and of the length behind one.
inline constexpr size_t kTagBytesMax = 5;
inline constexpr size_t kLengthBytesMax = 5;

class Schema;

/// A field of a message type. One that the type does not have, or that comes with another wire
/// type, is kept by protobuf as an unknown field, on the heap.
struct FieldSchema {
  uint8_t wire_type = 0xff;
  bool packable = false;  ///< May come length-delimited too, many values at once.
  bool text = false;      ///< A string, or bytes.
  /// Of messages and groups.
  const Schema* message = nullptr;
  /// Of enums whose values that have no name become unknown fields.
  const google::protobuf::EnumDescriptor* closed_enum = nullptr;

  bool Accepts(uint8_t type) const noexcept {
    return type == wire_type || (packable && type == kLengthDelimited);
  }
};

/// A message type. Thread rule: any thread, nobody changes it. Lifetime rule: of its Schemas.
class Schema {
 public:
  /// Null for a field that the type does not have. May be slow for extensions.
  const FieldSchema* Find(uint32_t number) const noexcept {
    if (number < low_.size()) {
      const FieldSchema& field = low_[number];
      if (field.wire_type != kNone) return &field;
    } else if (const auto found = high_.find(number); found != high_.end()) {
      return &found->second;
    }
    return extendable_ ? FindExtension(number) : nullptr;
  }
  /// Entries of maps drop what they do not know.
  bool keeps_unknown() const noexcept { return keeps_unknown_; }
  /// What stands in its groups may be messages of any type.
  bool message_set() const noexcept { return message_set_; }

 private:
  friend class Schemas;
  static constexpr uint8_t kNone = 0xff;
  static constexpr uint32_t kLowMax = 512;

  const FieldSchema* FindExtension(uint32_t number) const noexcept;
  void Put(uint32_t number, const FieldSchema& field);

  const google::protobuf::Descriptor* type_ = nullptr;
  std::vector<FieldSchema> low_;
  std::unordered_map<uint32_t, FieldSchema> high_;
  bool extendable_ = false;
  bool message_set_ = false;
  bool keeps_unknown_ = true;
};

/// The schemas of a family of types.
class Schemas {
 public:
  /// Of `type` and all types below it. Thread rule: one thread.
  const Schema& Of(const google::protobuf::Descriptor& type);

  /// The same for types of the program, kept for ever. Thread rule: any thread. Null for types that
  /// the program made while running, which may end at any time.
  static const Schema* OfGenerated(const google::protobuf::Descriptor& type);

 private:
  std::unordered_map<const google::protobuf::Descriptor*, std::unique_ptr<Schema>> schemas_;
};

/// The schema of one field, without its message's.
FieldSchema SchemaOfField(const google::protobuf::FieldDescriptor& field);

}  // namespace harena::pb::wire
