#include "harena/pb/wire/shape.h"

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
struct ExtensionShapes {
  ForkMutex mutex;
  std::unordered_map<const FieldDescriptor*, FieldShape> shapes;

  static ExtensionShapes& Get() {
    static auto& all = *new ExtensionShapes;
    return all;
  }
};

}  // namespace

FieldShape ShapeOfField(const FieldDescriptor& field) {
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

void Shape::Put(uint32_t number, const FieldShape& field) {
  if (number >= kLowMax) {
    high_.emplace(number, field);
    return;
  }
  if (number >= low_.size()) low_.resize(number + 1);
  low_[number] = field;
}

const FieldShape* Shape::FindExtension(uint32_t number) const noexcept {
  const auto field_number = static_cast<int>(number);
  if (type_->FindExtensionRangeContainingNumber(field_number) == nullptr) return nullptr;
  const FieldDescriptor* const field =
      DescriptorPool::generated_pool()->FindExtensionByNumber(type_, field_number);
  if (field == nullptr) return nullptr;
  FieldShape shape = ShapeOfField(*field);
  if (field->message_type() != nullptr) shape.message = Shapes::OfGenerated(*field->message_type());
  ExtensionShapes& all = ExtensionShapes::Get();
  std::lock_guard lock(all.mutex);
  return &all.shapes.emplace(field, shape).first->second;
}

const Shape& Shapes::Of(const Descriptor& type) {
  auto& place = shapes_[&type];
  if (place != nullptr) return *place;
  place = std::make_unique<Shape>();
  Shape& shape = *place;  // `place` moves as the table grows
  shape.type_ = &type;
  shape.extendable_ = type.extension_range_count() > 0;
  shape.message_set_ = type.options().message_set_wire_format();
  shape.keeps_unknown_ = !type.options().map_entry();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    FieldShape field_shape = ShapeOfField(field);
    if (field.message_type() != nullptr) field_shape.message = &Of(*field.message_type());
    shape.Put(static_cast<uint32_t>(field.number()), field_shape);
  }
  return shape;
}

const Shape* Shapes::OfGenerated(const Descriptor& type) {
  if (type.file()->pool() != DescriptorPool::generated_pool()) return nullptr;
  thread_local constinit Recent<Descriptor, const Shape*> recent;
  return recent.Get(&type, [&] {
    static auto& mutex = *new ForkMutex;
    static auto& shapes = *new Shapes;
    const std::lock_guard lock(mutex);
    return &shapes.Of(type);
  });
}

}  // namespace harena::pb::wire
