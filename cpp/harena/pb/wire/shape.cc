#include "harena/pb/wire/shape.h"

#include <mutex>
#include <typeinfo>
#include <unordered_set>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/base/fork_mutex.h"
#include "harena/pb/layout/cleanup_window.h"
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
  const uint64_t tag = uint64_t{number} << 3 | kLengthDelimited;
  if (field.message != nullptr && tag < 0x80) message_tags_[tag / 64] |= uint64_t{1} << (tag % 64);
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
  shape.holds_messages_ = shape.extendable_;
  if (shape.extendable_) shape.message_tags_.fill(~uint64_t{0});
  shape.message_set_ = type.options().message_set_wire_format();
  shape.keeps_unknown_ = !type.options().map_entry();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    FieldShape field_shape = ShapeOfField(field);
    if (field.message_type() != nullptr) {
      field_shape.message = &Of(*field.message_type());
      shape.holds_messages_ = true;
    }
    shape.Put(static_cast<uint32_t>(field.number()), field_shape);
  }
  return shape;
}

namespace {

// The containers of their unknown fields can be told from other things on an arena.
bool LearnContainers(const Descriptor& type) {
#if HARENA_CODEC
  if (type.options().map_entry()) return true;  // they drop what they do not know
  const auto* const prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
  return prototype != nullptr && layout::ContainerEnds::Learn(*prototype);
#else
  static_cast<void>(type);
  return true;
#endif
}

bool NoExtensionsBelow(const Descriptor& type, std::unordered_set<const Descriptor*>& seen) {
  if (!seen.insert(&type).second) return true;
  if (type.extension_range_count() > 0 || !LearnContainers(type)) return false;
  for (int i = 0; i < type.field_count(); ++i) {
    const Descriptor* const below = type.field(i)->message_type();
    if (below != nullptr && !NoExtensionsBelow(*below, seen)) return false;
  }
  return true;
}

bool FindReadsInOrder(const google::protobuf::MessageLite& message) {
  const auto* const full = dynamic_cast<const google::protobuf::Message*>(&message);
  if (full == nullptr) return false;
  const Descriptor& type = *full->GetDescriptor();
  if (type.file()->pool() != DescriptorPool::generated_pool()) return false;
  static auto& mutex = *new ForkMutex;
  static auto& known = *new std::unordered_map<const Descriptor*, bool>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(&type);
  if (found != known.end()) return found->second;
  std::unordered_set<const Descriptor*> seen;
  return known.emplace(&type, NoExtensionsBelow(type, seen)).first->second;
}

}  // namespace

bool ReadsInOrder(const google::protobuf::MessageLite& message) {
  // Types that the program made share one class, for which the answer is no.
  thread_local constinit Recent<std::type_info, bool> recent;
  return recent.Get(&typeid(message), [&] { return FindReadsInOrder(message); });
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
