#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace harena::bench {

enum WireType : uint32_t {
  kWireVarint = 0,
  kWireFixed64 = 1,
  kWireLength = 2,
  kWireStartGroup = 3,
  kWireEndGroup = 4,
  kWireFixed32 = 5,
};

/// What a tag announces.
enum class WireKind : uint8_t {
  kUnknown,  ///< An unknown field, or a known one that comes with another wire type.
  kVarint,
  kFixed64,
  kFixed32,
  kBytes,
  kText,  ///< Bytes that must be UTF-8.
  kMessage,
  kGroup,
  kPackedVarint,
  kPackedFixed64,
  kPackedFixed32,
};

/// One message type's fields by tag. Immutable once made, so any thread may read it.
struct WireTable {
  struct Entry {
    WireKind kind = WireKind::kUnknown;
    uint64_t required_bit = 0;
    const WireTable* child = nullptr;  ///< Of kMessage and kGroup.
  };

  std::vector<Entry> dense;                        ///< By tag, up to a bound.
  std::vector<std::pair<uint32_t, Entry>> sparse;  ///< The tags above, in order.
  uint64_t required = 0;                           ///< All required fields' bits.

  const Entry& Find(uint32_t tag) const {
    if (tag < dense.size()) return dense[tag];
    return sparse.empty() ? kUnknownEntry : FindSparse(tag);
  }

 private:
  static const Entry kUnknownEntry;
  const Entry& FindSparse(uint32_t tag) const;
};

/// The tables of a type and of all that it reaches.
/// Lifetime rule: owns the tables, which point to each other.
class WireTables {
 public:
  /// REQUIRES: no type that `type` reaches is a MessageSet or has more than 64 required fields.
  /// Throws std::invalid_argument otherwise.
  explicit WireTables(const google::protobuf::Descriptor* type) : root_(Make(type)) {}

  const WireTable& root() const { return *root_; }

 private:
  const WireTable* Make(const google::protobuf::Descriptor* type);

  std::unordered_map<const google::protobuf::Descriptor*, std::unique_ptr<WireTable>> tables_;
  const WireTable* root_;
};

}  // namespace harena::bench
