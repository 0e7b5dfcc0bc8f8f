#include "harena/pb/codec/test_random_message.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::UnknownFieldSet;

// Often where encodings change their length or sign.
uint64_t RandomBits(Random& random) {
  switch (Below(random, 6)) {
    case 0:
      return Below(random, 3);
    case 1:
      return ~uint64_t{0} - Below(random, 3);
    case 2:
      return (uint64_t{1} << Below(random, 64)) - Below(random, 2);
    case 3:
      return static_cast<uint64_t>(static_cast<int64_t>(std::numeric_limits<int32_t>::min())) +
             Below(random, 2);
    default:
      return random() >> Below(random, 64);
  }
}

// Often where a string goes from one way of being held to another.
size_t RandomLength(Random& random) {
  switch (Below(random, 12)) {
    case 0:
      return 0;
    case 1:
      return 14 + Below(random, 4);
    case 2:
      return 126 + Below(random, 4);
    case 3:
      return OneIn(random, 8) ? 4000 + Below(random, 300) : 30 + Below(random, 4);
    default:
      return Below(random, 40);
  }
}

std::string RandomText(Random& random, bool utf8, size_t length) {
  const bool ascii = OneIn(random, 2);
  std::string text;
  while (text.size() < length) {
    if (ascii) {
      text += static_cast<char>('a' + Below(random, 26));
    } else if (utf8) {
      constexpr const char* kPieces[] = {
          "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82", "\x7f", "\xef\xbf\xbd", "z"};
      text += kPieces[Below(random, std::size(kPieces))];
    } else {
      text += static_cast<char>(random());
    }
  }
  return text;
}

// Newer protobuf has no syntax() to ask for.
template <typename Field>
bool IsOpenEnum(const Field& field) {
  if constexpr (requires { field.file()->syntax(); }) {
    return field.file()->syntax() == field.file()->SYNTAX_PROTO3;
  } else {
    return !field.legacy_enum_field_treated_as_closed();
  }
}

template <typename Field>
bool MustBeUtf8(const Field& field) {
  if constexpr (requires { field.file()->syntax(); }) {
    return field.file()->syntax() == field.file()->SYNTAX_PROTO3;
  } else {
    return field.requires_utf8_validation();
  }
}

int RandomEnum(const FieldDescriptor& field, Random& random) {
  const EnumDescriptor& type = *field.enum_type();
  if (IsOpenEnum(field) && OneIn(random, 4)) return static_cast<int>(RandomBits(random));
  return type.value(static_cast<int>(Below(random, type.value_count())))->number();
}

class Filler {
 public:
  Filler(Random& random, const RandomMessageOptions& options)
      : random_(random), options_(options), fields_left_(options.fields_max) {}

  void Fill(Message& message, int depth) {
    const Descriptor& type = *message.GetDescriptor();
    std::vector<const FieldDescriptor*> fields;
    for (int i = 0; i < type.field_count(); ++i) fields.push_back(type.field(i));
    std::vector<const FieldDescriptor*> extensions;
    type.file()->pool()->FindAllExtensions(&type, &extensions);
    fields.insert(fields.end(), extensions.begin(), extensions.end());
    if (fields.empty()) return FillUnknown(message);
    // Sometimes nearly all fields of this message, mostly a few.
    const size_t sparse = OneIn(random_, 3) ? 2 : 1 + fields.size() / 4;
    for (const FieldDescriptor* field : fields) {
      if (!field->is_required()) {
        if (fields_left_ <= 0 || !OneIn(random_, sparse)) continue;
        if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && depth <= 0) continue;
      }
      const size_t times = field->is_repeated() ? Times(*field) : 1;
      for (size_t i = 0; i < times; ++i) Put(message, *field, depth);
    }
    if (OneIn(random_, 6)) FillUnknown(message);
  }

 private:
  bool IsLong() { return options_.long_bytes_max != 0 && OneIn(random_, 3); }

  size_t Times(const FieldDescriptor& field) {
    const bool small = field.is_packable() && IsLong();
    return 1 + Below(random_, small ? options_.long_bytes_max / 4 : 4);
  }

  std::string Text(bool utf8) {
    const size_t length =
        IsLong() ? Below(random_, options_.long_bytes_max) : RandomLength(random_);
    return RandomText(random_, utf8, length);
  }

  void FillUnknown(Message& message) {
    if (!options_.unknown_fields) return;
    // Numbers of known fields are fine: the wire is parsed again.
    UnknownFieldSet& set = *message.GetReflection()->MutableUnknownFields(&message);
    const int number = 1 + static_cast<int>(random_() >> (35 + Below(random_, 28)));
    switch (Below(random_, 5)) {
      case 0:
        return set.AddVarint(number, RandomBits(random_));
      case 1:
        return set.AddFixed32(number, static_cast<uint32_t>(random_()));
      case 2:
        return set.AddFixed64(number, random_());
      case 3:
        return set.AddLengthDelimited(number, Text(true));
      default:
        return set.AddGroup(number)->AddVarint(5, RandomBits(random_));
    }
  }

  // A field of every C++ type is set or added to.
  void Put(Message& message, const FieldDescriptor& field, int depth) {
    --fields_left_;
    const Reflection& to = *message.GetReflection();
    const FieldDescriptor* const f = &field;
    const bool many = field.is_repeated();
    const uint64_t bits = RandomBits(random_);
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32: {
        const auto value = static_cast<int32_t>(bits);
        return many ? to.AddInt32(&message, f, value) : to.SetInt32(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_INT64: {
        const auto value = static_cast<int64_t>(bits);
        return many ? to.AddInt64(&message, f, value) : to.SetInt64(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_UINT32: {
        const auto value = static_cast<uint32_t>(bits);
        return many ? to.AddUInt32(&message, f, value) : to.SetUInt32(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_UINT64:
        return many ? to.AddUInt64(&message, f, bits) : to.SetUInt64(&message, f, bits);
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        const auto value = std::bit_cast<double>(OneIn(random_, 5) ? uint64_t{1} << 63 : random_());
        return many ? to.AddDouble(&message, f, value) : to.SetDouble(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_FLOAT: {
        const auto value = std::bit_cast<float>(
            OneIn(random_, 5) ? uint32_t{1} << 31 : static_cast<uint32_t>(random_()));
        return many ? to.AddFloat(&message, f, value) : to.SetFloat(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_BOOL: {
        const bool value = bits % 2 == 0;
        return many ? to.AddBool(&message, f, value) : to.SetBool(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int value = RandomEnum(field, random_);
        return many ? to.AddEnumValue(&message, f, value) : to.SetEnumValue(&message, f, value);
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        const bool utf8 = field.type() == FieldDescriptor::TYPE_STRING &&
                          (MustBeUtf8(field) || OneIn(random_, 2));
        std::string value = Text(utf8);
        return many ? to.AddString(&message, f, std::move(value))
                    : to.SetString(&message, f, std::move(value));
      }
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        Message* child = many ? to.AddMessage(&message, f) : to.MutableMessage(&message, f);
        return Fill(*child, depth - 1);
      }
    }
  }

  Random& random_;
  const RandomMessageOptions options_;
  int fields_left_;
};

}  // namespace

void FillRandomly(Message& message, Random& random, const RandomMessageOptions& options) {
  Filler(random, options).Fill(message, options.depth_max);
}

}  // namespace harena::pb::codec::test
