#include "harena/pb/codec/test_hostile_wire.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <google/protobuf/wire_format_lite.h>

#include "harena/pb/wire/test_wire.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using pb::test::Varint;

constexpr int kDepthMax = 90;

std::string TagOf(uint32_t number, uint32_t wire_type) { return Varint(number << 3 | wire_type); }

std::string Delimited(uint32_t number, std::string_view body) {
  return TagOf(number, 2) + Varint(body.size()) + std::string(body);
}

class Maker {
 public:
  Maker(Hostility hostility, size_t bytes, Random& random)
      : hostility_(hostility), left_(bytes), random_(random) {}

  // The fields of one message; `share` is about what they may take.
  std::string Message(const Descriptor& type, size_t share, int depth) {
    std::string wire;
    Required(type, &wire, depth);
    while (wire.size() < share && left_ > 0) {
      const std::string piece = Piece(type, share - wire.size(), depth);
      left_ -= std::min(left_, piece.size());
      // The same again and again: that is what costs its sender least.
      for (size_t times = 1 + Below(random_, OneIn(random_, 3) ? 400 : 4); times > 0; --times) {
        wire += piece;
        if (wire.size() >= share) break;
      }
    }
    return wire;
  }

 private:
  bool Wants(Hostility hostility) {
    return hostility_ == hostility ||
           (hostility_ == Hostility::kEverything && OneIn(random_, kHostilities));
  }

  void Required(const Descriptor& type, std::string* wire, int depth) {
    for (int i = 0; i < type.field_count(); ++i) {
      if (type.field(i)->is_required()) *wire += Known(*type.field(i), 0, depth);
    }
  }

  std::string Piece(const Descriptor& type, size_t share, int depth) {
    if (Wants(Hostility::kUnknown) && OneIn(random_, 2)) return Unknown();
    if (Wants(Hostility::kGroups) && OneIn(random_, 2)) return UnknownGroups(depth);
    const FieldDescriptor* const field = Choose(type);
    if (field == nullptr) return Unknown();
    return Known(*field, share, depth);
  }

  // A field of the kind that is asked for, where the type has some.
  const FieldDescriptor* Choose(const Descriptor& type) {
    std::vector<const FieldDescriptor*> fits;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const bool text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      const bool message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      const bool fit = (hostility_ == Hostility::kWide && message) ||
                       (hostility_ == Hostility::kStrings && (text || message)) ||
                       (hostility_ == Hostility::kNested && message) ||
                       (hostility_ == Hostility::kMaps && (field.is_map() || message)) ||
                       (hostility_ == Hostility::kPacked && !text) ||
                       (hostility_ == Hostility::kGroups && message);
      if (fit) fits.push_back(&field);
    }
    if (fits.empty() || OneIn(random_, 20)) {
      if (type.field_count() == 0) return nullptr;
      return type.field(static_cast<int>(Below(random_, static_cast<size_t>(type.field_count()))));
    }
    return fits[Below(random_, fits.size())];
  }

  std::string Known(const FieldDescriptor& field, size_t share, int depth) {
    const auto number = static_cast<uint32_t>(field.number());
    if (field.type() == FieldDescriptor::TYPE_GROUP) {
      return TagOf(number, 3) + Inside(*field.message_type(), share, depth) + TagOf(number, 4);
    }
    if (field.is_map()) return Delimited(number, Entry(*field.message_type(), share, depth));
    if (field.message_type() != nullptr) {
      return Delimited(number, Inside(*field.message_type(), share, depth));
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) return Delimited(number, Text());
    if (field.is_packable() && OneIn(random_, 2)) {
      std::string packed;
      for (size_t count = Below(random_, OneIn(random_, 4) ? 3000 : 10); count > 0; --count) {
        packed += Value(field);
      }
      return Delimited(number, packed);
    }
    const auto type = static_cast<WireFormatLite::FieldType>(field.type());
    return TagOf(number, WireFormatLite::WireTypeForFieldType(type)) + Value(field);
  }

  std::string Inside(const Descriptor& type, size_t share, int depth) {
    if (depth >= kDepthMax) {
      std::string required;
      if (depth < kDepthMax + 5) Required(type, &required, depth + 1);
      return required;
    }
    if (Wants(Hostility::kWide) || OneIn(random_, 3)) return Message(type, 0, depth + 1);
    const size_t part = Wants(Hostility::kNested) ? share - share / 4 : Below(random_, 60);
    return Message(type, std::min(share, part), depth + 1);
  }

  std::string Entry(const Descriptor& entry, size_t share, int depth) {
    const FieldDescriptor& key = *entry.map_key();
    std::string wire;
    if (!OneIn(random_, 10)) {
      wire += key.cpp_type() == FieldDescriptor::CPPTYPE_STRING
                  ? Delimited(1, "a key of some length, " + std::to_string(Below(random_, 100'000)))
                  : Known(key, 0, depth + 1);
    }
    if (OneIn(random_, 2)) wire += Known(*entry.map_value(), share / 8, depth + 1);
    if (OneIn(random_, 30)) wire += Unknown();
    return wire;
  }

  std::string Text() {
    if (OneIn(random_, 40)) return std::string(Below(random_, 3000), 'l');
    return OneIn(random_, 2) ? std::string() : std::string(14 + Below(random_, 4), 's');
  }

  std::string Value(const FieldDescriptor& field) {
    switch (WireFormatLite::WireTypeForFieldType(
        static_cast<WireFormatLite::FieldType>(field.type()))) {
      case WireFormatLite::WIRETYPE_FIXED32:
        return std::string(4, '\1');
      case WireFormatLite::WIRETYPE_FIXED64:
        return std::string(8, '\1');
      default:
        // Many enums do not know 77.
        return OneIn(random_, 4) ? Varint(random_() >> Below(random_, 64)) : Varint(77);
    }
  }

  std::string Unknown() {
    // Of few bytes, mostly: numbers that few types have.
    const auto number = static_cast<uint32_t>(OneIn(random_, 2) ? 900 + Below(random_, 90)
                                                                : 13 + Below(random_, 3));
    switch (Below(random_, 5)) {
      case 0:
        return TagOf(number + 1'000, 0) + Varint(Below(random_, 300));
      case 1:
        return TagOf(number + 1'000, 5) + "four";
      case 2:
        return TagOf(number + 1'000, 1) + "eight...";
      case 3:
        return Delimited(number + 1'000, std::string(Below(random_, 40), 'u'));
      default:
        return TagOf(number + 1'000, 3) + TagOf(number + 1'000, 4);
    }
  }

  std::string UnknownGroups(int depth) {
    const int levels = static_cast<int>(Below(random_, static_cast<size_t>(kDepthMax + 1 - depth)));
    std::string open, close;
    for (int i = 0; i < levels; ++i) {
      const auto number = static_cast<uint32_t>(2'000 + Below(random_, 30));
      open += TagOf(number, 3) + (OneIn(random_, 4) ? Unknown() : "");
      close.insert(0, TagOf(number, 4));
    }
    return open + close;
  }

  const Hostility hostility_;
  size_t left_;
  Random& random_;
};

}  // namespace

std::string HostileWire(const Descriptor& type, Hostility hostility, size_t bytes, Random& random) {
  return Maker(hostility, bytes, random).Message(type, bytes, 0);
}

int HostileRounds() {
  const char* const rounds = std::getenv("HARENA_HOSTILE_ROUNDS");
  return rounds == nullptr ? 1 : std::max(std::atoi(rounds), 1);
}

}  // namespace harena::pb::codec::test
