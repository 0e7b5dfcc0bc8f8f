// The map fields of messages that have a codec.
#pragma once

#include <cstdint>

#include <google/protobuf/map_field.h>

#include "harena/pb/layout/parse_window.h"
#include "harena/pb/layout/support.h"

#if HARENA_CODEC
namespace google::protobuf::internal {

/// What stands in for MapField in the generated class: the same bytes and the same functions, but
/// that an entry which says to be longer than the input ends the parse before protobuf believes it.
template <typename Entry, typename Key, typename T, WireFormatLite::FieldType kKeyType,
          WireFormatLite::FieldType kValueType>
class HarenaMapField : public MapField<Entry, Key, T, kKeyType, kValueType> {
  using Stock = ::google::protobuf::internal::MapField<Entry, Key, T, kKeyType, kValueType>;

 public:
  // Generated code calls the destructor by this name.
  using MapField = HarenaMapField;

  using Stock::Stock;

  // As MapField's own; called at an entry's beginning, when its length has become the limit.
  const char* _InternalParse(const char* ptr, ParseContext* context) {
    if (!harena::pb::layout::LimitIsInInput(*context, ptr)) return nullptr;
    return Stock::_InternalParse(ptr, context);
  }
  template <typename UnknownType>
  const char* ParseWithEnumValidation(const char* ptr, ParseContext* context, bool (*is_valid)(int),
                                      uint32_t field_number, InternalMetadata* metadata) {
    if (!harena::pb::layout::LimitIsInInput(*context, ptr)) return nullptr;
    return Stock::template ParseWithEnumValidation<UnknownType>(ptr, context, is_valid,
                                                                field_number, metadata);
  }
};

}  // namespace google::protobuf::internal
#endif  // HARENA_CODEC
