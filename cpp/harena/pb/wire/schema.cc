#include "harena/pb/wire/schema.h"

#include <mutex>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/base/fork_mutex.h"
#include "harena/pb/wire/recent.h"

namespace harena::pb::wire {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

namespace {

bool IsClosed(const google::protobuf::EnumDescriptor& type) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  return type.file()->syntax() == google::protobuf::FileDescriptor::SYNTAX_PROTO2;
#else
  return type.is_closed();
#endif
}

// Extensions that were met, by their descriptors; kept for ever, as generated types are.
struct ExtensionSchemas {
  ForkMutex mutex;
  std::unordered_map<const FieldDescriptor*, FieldSchema> schemas;

  static ExtensionSchemas& Get() {
    static auto& all = *new ExtensionSchemas;
    return all;
  }
};

}  // namespace

FieldSchema SchemaOfField(const FieldDescriptor& field) {
  const auto type = static_cast<WireFormatLite::FieldType>(field.type());
  return {
      .wire_type = static_cast<uint8_t>(WireFormatLite::WireTypeForFieldType(type)),
      .packable = field.is_packable(),
      .text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING,
      .closed_enum = field.type() == FieldDescriptor::TYPE_ENUM && IsClosed(*field.enum_type())
                         ? field.enum_type()
                         : nullptr,
  };
}

void Schema::Put(uint32_t number, const FieldSchema& field) {
  if (number >= kLowMax) {
    high_.emplace(number, field);
    return;
  }
  if (number >= low_.size()) low_.resize(number + 1);
  low_[number] = field;
}

const FieldSchema* Schema::FindExtension(uint32_t number) const noexcept {
  const auto field_number = static_cast<int>(number);
  if (type_->FindExtensionRangeContainingNumber(field_number) == nullptr) return nullptr;
  const FieldDescriptor* const field =
      DescriptorPool::generated_pool()->FindExtensionByNumber(type_, field_number);
  if (field == nullptr) return nullptr;
  FieldSchema schema = SchemaOfField(*field);
  if (field->message_type() != nullptr)
    schema.message = Schemas::OfGenerated(*field->message_type());
  ExtensionSchemas& all = ExtensionSchemas::Get();
  std::lock_guard lock(all.mutex);
  return &all.schemas.emplace(field, schema).first->second;
}

const Schema& Schemas::Of(const Descriptor& type) {
  auto& place = schemas_[&type];
  if (place != nullptr) return *place;
  place = std::make_unique<Schema>();
  Schema& schema = *place;  // `place` moves as the table grows
  schema.type_ = &type;
  schema.extendable_ = type.extension_range_count() > 0;
  schema.message_set_ = type.options().message_set_wire_format();
  schema.keeps_unknown_ = !type.options().map_entry();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    FieldSchema field_schema = SchemaOfField(field);
    if (field.message_type() != nullptr) field_schema.message = &Of(*field.message_type());
    schema.Put(static_cast<uint32_t>(field.number()), field_schema);
  }
  return schema;
}

const Schema* Schemas::OfGenerated(const Descriptor& type) {
  if (type.file()->pool() != DescriptorPool::generated_pool()) return nullptr;
  thread_local constinit Recent<Descriptor, const Schema*> recent;
  return recent.Get(&type, [&] {
    static auto& mutex = *new ForkMutex;
    static auto& schemas = *new Schemas;
    const std::lock_guard lock(mutex);
    return &schemas.Of(type);
  });
}

}  // namespace harena::pb::wire
