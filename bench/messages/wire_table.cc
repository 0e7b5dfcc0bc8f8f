#include "bench/messages/wire_table.h"

#include <optional>
#include <stdexcept>
#include <string>

#include <google/protobuf/descriptor.pb.h>

namespace harena::bench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Tags below this are found by index, the others by a search: field numbers up to 511.
constexpr uint32_t kDenseTags = 512 << 3;

// protobuf 3.21 has no name for it yet: strings of proto3 are checked, those of proto2 are not.
bool MustBeUtf8(const FieldDescriptor& field) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  return field.type() == FieldDescriptor::TYPE_STRING &&
         field.file()->syntax() == google::protobuf::FileDescriptor::SYNTAX_PROTO3;
#else
  return field.requires_utf8_validation();
#endif
}

struct Shape {
  WireType wire;
  WireKind kind;
  std::optional<WireKind> packed;  // what the same field is in one length-delimited run
};

Shape ShapeOf(const FieldDescriptor* field) {
  switch (field->type()) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return {kWireFixed64, WireKind::kFixed64, WireKind::kPackedFixed64};
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return {kWireFixed32, WireKind::kFixed32, WireKind::kPackedFixed32};
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
      return {kWireLength, MustBeUtf8(*field) ? WireKind::kText : WireKind::kBytes, {}};
    case FieldDescriptor::TYPE_MESSAGE:
      return {kWireLength, WireKind::kMessage, {}};
    case FieldDescriptor::TYPE_GROUP:
      return {kWireStartGroup, WireKind::kGroup, {}};
    default:
      return {kWireVarint, WireKind::kVarint, WireKind::kPackedVarint};
  }
}

void Add(WireTable& table, int number, WireType wire, const WireTable::Entry& entry) {
  const uint32_t tag = static_cast<uint32_t>(number) << 3 | wire;
  if (tag >= kDenseTags) {
    table.sparse.emplace_back(tag, entry);
    return;
  }
  if (table.dense.size() <= tag) table.dense.resize(tag + 1);
  table.dense[tag] = entry;
}

std::vector<const FieldDescriptor*> FieldsOf(const Descriptor* type) {
  std::vector<const FieldDescriptor*> fields;
  type->file()->pool()->FindAllExtensions(type, &fields);
  for (int i = 0; i < type->field_count(); ++i) fields.push_back(type->field(i));
  return fields;
}

}  // namespace

const WireTable::Entry WireTable::kUnknownEntry;

const WireTable::Entry& WireTable::FindSparse(uint32_t tag) const {
  const auto found =
      std::lower_bound(sparse.begin(), sparse.end(), tag,
                       [](const auto& entry, uint32_t wanted) { return entry.first < wanted; });
  return found != sparse.end() && found->first == tag ? found->second : kUnknownEntry;
}

const WireTable* WireTables::Make(const Descriptor* type) {
  if (const auto found = tables_.find(type); found != tables_.end()) return found->second.get();
  if (type->options().message_set_wire_format()) {
    throw std::invalid_argument(std::string(type->full_name()) + " is a MessageSet");
  }
  // Known before its fields are: a type may contain itself.
  WireTable& table = *(tables_[type] = std::make_unique<WireTable>());
  uint64_t next_bit = 1;
  for (const FieldDescriptor* field : FieldsOf(type)) {
    const Shape shape = ShapeOf(field);
    WireTable::Entry entry{.kind = shape.kind};
    if (field->message_type() != nullptr) entry.child = Make(field->message_type());
    if (field->is_required()) {
      if (next_bit == 0) {
        throw std::invalid_argument(std::string(type->full_name()) +
                                    " has more than 64 required fields");
      }
      entry.required_bit = next_bit;
      table.required |= next_bit;
      next_bit <<= 1;
    }
    Add(table, field->number(), shape.wire, entry);
    if (field->is_packable()) Add(table, field->number(), kWireLength, {.kind = *shape.packed});
  }
  std::sort(table.sparse.begin(), table.sparse.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return &table;
}

}  // namespace harena::bench
