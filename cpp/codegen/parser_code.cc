#include "parser_code.h"

#include <algorithm>
#include <set>
#include <vector>

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/wire_format_lite.h>

#include "field_names.h"
#include "protobuf_release.h"

namespace harena::codegen {
namespace {

namespace cpp = google::protobuf::compiler::cpp;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::Printer;

WireFormatLite::WireType WireTypeOf(const FieldDescriptor& field) {
  return WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type()));
}

bool IsMessages(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && field.is_repeated() &&
         !field.is_map();
}

// A tag as the parser looks for it: of one byte or of two. Longer ones are read.
struct Tag {
  explicit Tag(uint32_t number)
      : tag(number),
        bytes(number < 1 << 7    ? 1
              : number < 1 << 14 ? 2
                                 : 0) {}

  std::string IsAtPtr() const {
    if (bytes == 1) return "static_cast<uint8_t>(*ptr) == " + std::to_string(tag);
    return "::_pbi::UnalignedLoad<uint16_t>(ptr) == " +
           std::to_string((tag & 0x7f) | 0x80 | tag >> 7 << 8);
  }

  uint32_t tag;
  int bytes;
};

std::string LabelOf(uint32_t tag) { return "tag_" + std::to_string(tag); }

// Notes that the field is there.
void PrintHas(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (field.real_containing_oneof() != nullptr) return;
  if (kParsesByTable) {
    out.Print(variables,
              "::harena::pb::layout::SetHasBit(*this, kTable.field_entries[$index$].has_idx);\n");
  } else if (HasHasbit(field)) {
    out.Print(variables, "_Internal::set_has_$name$(&_impl_._has_bits_);\n");
  }
}

void PrintString(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (field.is_repeated()) {
    out.Print(variables,
              "ptr = codec::ReadRepeatedString(ptr, end, parser, $member$, $utf8$, $wire_tag$);\n");
  } else {
    if (field.real_containing_oneof()) {
      out.Print(variables,
                "if (!$has$) {\n"
                "  clear_$oneof$();\n"
                "  set_has_$name$();\n"
                "  $member$.InitDefault();\n"
                "}\n");
    }
    out.Print(variables, "ptr = codec::ReadString(ptr, end, parser, $member$, $utf8$);\n");
  }
  out.Print("HARENA_CHK_(ptr);\n");
  // A string whose bit is set has a value: checks of protobuf's may look when a parse has failed.
  if (!field.is_repeated()) PrintHas(field, variables, out);
}

void PrintMap(const FieldDescriptor& field, Variables variables, Printer& out) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  if (IsClosedEnum(value) && kParsesByTable) {
    out.Print(variables,
              "ptr = codec::ReadMapEntryByTable(\n"
              "    $wire_tag$u, ptr, end, parser, *this,\n"
              "    ::_pbi::HarenaTable<HarenaTableOf>::Stock(\n"
              "        ::_pbi::TcParser::GetTable<HarenaTableOf>()));\n");
  } else if (IsClosedEnum(value)) {
    variables["enum"] = cpp::QualifiedClassName(value.enum_type());
    out.Print(variables,
              "auto entry = ::_pbi::InitEnumParseWrapper<::google::protobuf::UnknownFieldSet>(\n"
              "    &$member$, $enum$_IsValid, $number$, &_internal_metadata_);\n"
              "ptr = codec::ReadMapEntryByProtobuf(\n"
              "    ptr, end, parser, [&](const char* at, ::_pbi::ParseContext* context) {\n"
              "      return entry._InternalParse(at, context);\n"
              "    });\n");
  } else {
    variables["key_utf8"] = Utf8Name(key);
    variables["value_utf8"] = Utf8Name(value);
    variables["key_type"] = VariablesOf(key)["type"];
    variables["value_type"] = VariablesOf(value)["type"];
    out.Print(variables,
              "ptr = codec::ReadMapEntry<$key_type$,\n"
              "                          $value_type$>(\n"
              "    ptr, end, parser, $member$, $key_utf8$, $value_utf8$);\n");
  }
  out.Print("HARENA_CHK_(ptr);\n");
}

void PrintMessage(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  const bool group = field.type() == FieldDescriptor::TYPE_GROUP;
  if (field.is_repeated()) {
    out.Print(variables, "auto* const message = elements.Add();\n");
  } else {
    if (field.real_containing_oneof()) {
      out.Print(variables,
                "if (!$has$) {\n"
                "  auto* const made = parser.NewMessage<$message$>();\n"
                "  clear_$oneof$();\n"
                "  set_has_$name$();\n"
                "  $member$ = made;\n"
                "}\n");
    } else {
      out.Print(variables, "if ($member$ == nullptr) $member$ = parser.NewMessage<$message$>();\n");
    }
    if (kParsesByTable) PrintHas(field, variables, out);  // elsewhere the accessor does
    out.Print(variables, "auto* const message = _internal_mutable_$name$();\n");
  }
  out.Print(variables, group ? "ptr = codec::ReadGroup(ptr, end, parser, message, $wire_tag$u);\n"
                             : "ptr = codec::ReadMessage(ptr, end, parser, message);\n");
  out.Print("HARENA_CHK_(ptr);\n");
}

std::string VarintKind(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_SINT32:
      return "kZigZag32";
    case FieldDescriptor::TYPE_SINT64:
      return "kZigZag64";
    default:
      return "kPlain";
  }
}

// Sets or adds $value$.
void PrintPut(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (field.is_repeated()) {
    out.Print(variables, "$member$.Add($value$);\n");
    return;
  }
  if (field.real_containing_oneof()) {
    out.Print(variables,
              "if (!$has$) {\n"
              "  clear_$oneof$();\n"
              "  set_has_$name$();\n"
              "}\n");
  }
  PrintHas(field, variables, out);
  out.Print(variables, "$member$ = $value$;\n");
}

void PrintVarint(const FieldDescriptor& field, Variables variables, Printer& out) {
  out.Print(
      "uint64_t value;\n"
      "ptr = codec::ReadVarint(ptr, &value);\n"
      "HARENA_CHK_(ptr);\n");
  if (field.type() != FieldDescriptor::TYPE_ENUM) {
    variables["value"] = "codec::FromVarint<" + variables["primitive"] +
                         ", codec::Varint::" + VarintKind(field) + ">(value)";
    PrintPut(field, variables, out);
    return;
  }
  variables["value"] = "static_cast<int>(value)";
  if (!IsClosedEnum(field)) {
    PrintPut(field, variables, out);
    return;
  }
  out.Print(variables, "if (HARENA_LIKELY($enum$_IsValid(static_cast<int>(value)))) {\n");
  out.Indent();
  PrintPut(field, variables, out);
  out.Outdent();
  out.Print(variables,
            "} else {\n"
            "  codec::AddUnknownEnum(parser, $number$, value, _internal_metadata_);\n"
            "}\n");
}

void PrintFixed(const FieldDescriptor& field, Variables variables, Printer& out) {
  variables["value"] = "::_pbi::UnalignedLoad<" + variables["primitive"] + ">(ptr)";
  PrintPut(field, variables, out);
  out.Print(variables, "ptr += sizeof($primitive$);\n");
}

void PrintPacked(const FieldDescriptor& field, Variables variables, Printer& out) {
  variables["kind"] = VarintKind(field);
  if (IsClosedEnum(field)) {
    out.Print(variables,
              "ptr = codec::ReadPackedClosedEnum(ptr, end, parser, $member$, $enum$_IsValid,\n"
              "                                  $number$, _internal_metadata_);\n");
  } else if (WireTypeOf(field) != WireFormatLite::WIRETYPE_VARINT) {
    out.Print(variables, "ptr = codec::ReadPackedFixed(ptr, end, parser, $member$);\n");
  } else {
    out.Print(variables,
              "ptr = codec::ReadPackedVarints<codec::Varint::$kind$>(ptr, end, parser, "
              "$member$);\n");
  }
  out.Print("HARENA_CHK_(ptr);\n");
}

void PrintValue(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (field.is_map()) return PrintMap(field, variables, out);
  switch (WireTypeOf(field)) {
    case WireFormatLite::WIRETYPE_VARINT:
      return PrintVarint(field, variables, out);
    case WireFormatLite::WIRETYPE_FIXED32:
    case WireFormatLite::WIRETYPE_FIXED64:
      return PrintFixed(field, variables, out);
    default:
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        return PrintString(field, variables, out);
      }
      return PrintMessage(field, variables, out);
  }
}

// The tag with which a field is written.
uint32_t WrittenTagOf(const FieldDescriptor& field) {
  return field.is_packed() ? PackedTagOf(field) : TagOf(field);
}

// All that there is to read of a field behind its tag, of elements that follow each other too.
void PrintField(const FieldDescriptor& field, uint32_t wire_tag, Printer& out) {
  Variables variables = VariablesOf(field);
  const Tag tag(wire_tag);
  variables["wire_tag"] = std::to_string(wire_tag);
  if (kParsesByTable && field.is_repeated()) PrintHas(field, variables, out);
  if (wire_tag != TagOf(field)) return PrintPacked(field, variables, out);
  // Repeated strings are read by one call.
  const bool repeat =
      field.is_repeated() && tag.bytes != 0 && field.cpp_type() != FieldDescriptor::CPPTYPE_STRING;
  if (IsMessages(field)) {
    out.Print(variables, "codec::ElementReader elements($member$, parser);\n");
  }
  if (repeat) {
    out.Print("for (;;) {\n");
    out.Indent();
  }
  PrintValue(field, variables, out);
  if (repeat) {
    out.Print("if (ptr >= end || $other$) break;\nptr += $bytes$;\n", "other",
              "!(" + tag.IsAtPtr() + ")", "bytes", std::to_string(tag.bytes));
    out.Outdent();
    out.Print("}\n");
  }
  if (IsMessages(field)) out.Print("elements.End();\n");
}

// Where the parser goes from there: most messages have their fields in order.
void PrintNext(const FieldDescriptor* next, Printer& out) {
  const Tag tag(next == nullptr ? 0 : WrittenTagOf(*next));
  if (next != nullptr && tag.bytes != 0) {
    out.Print(
        "if (HARENA_LIKELY(ptr < end && $is$)) {\n"
        "  ptr += $bytes$;\n"
        "  goto $label$;\n"
        "}\n",
        "is", tag.IsAtPtr(), "bytes", std::to_string(tag.bytes), "label", LabelOf(tag.tag));
  }
  out.Print("continue;\n");
}

struct Case {
  const FieldDescriptor* field;
  uint32_t tag;
  const FieldDescriptor* next;
};

std::vector<Case> CasesOf(const Descriptor& message) {
  std::vector<const FieldDescriptor*> fields(static_cast<size_t>(message.field_count()));
  for (size_t i = 0; i < fields.size(); ++i) fields[i] = message.field(static_cast<int>(i));
  std::sort(fields.begin(), fields.end(),
            [](const auto* a, const auto* b) { return a->number() < b->number(); });
  std::vector<Case> cases;
  for (size_t i = 0; i < fields.size(); ++i) {
    const FieldDescriptor* const next = i + 1 < fields.size() ? fields[i + 1] : nullptr;
    cases.push_back({fields[i], TagOf(*fields[i]), next});
    if (fields[i]->is_packable()) cases.push_back({fields[i], PackedTagOf(*fields[i]), next});
  }
  return cases;
}

void PrintCase(const Case& one, Printer& out) {
  const std::string declaration =
      one.field->DebugString().substr(0, one.field->DebugString().find('\n'));
  out.Print("$label$: {  // $declaration$\n", "label", LabelOf(one.tag), "declaration",
            declaration);
  out.Indent();
  PrintField(*one.field, one.tag, out);
  PrintNext(one.next, out);
  out.Outdent();
  out.Print("}\n");
}

// Whether `tag` is one of an extension's.
std::string IsExtension(const Descriptor& message) {
  std::string condition;
  for (int i = 0; i < message.extension_range_count(); ++i) {
    const Descriptor::ExtensionRange& range = *message.extension_range(i);
    const auto start = WireFormatLite::MakeTag(StartOf(range), WireFormatLite::WIRETYPE_VARINT);
    if (i > 0) condition += " || ";
    condition += "(" + std::to_string(start) + "u <= tag";
    if (EndOf(range) <= FieldDescriptor::kMaxNumber) {
      const auto end = WireFormatLite::MakeTag(EndOf(range), WireFormatLite::WIRETYPE_VARINT);
      condition += " && tag < " + std::to_string(end) + "u";
    }
    condition += ")";
  }
  return condition;
}

void PrintExtensions(const Descriptor& message, Printer& out) {
  if (message.extension_range_count() == 0) return;
  out.Print(
      "if ($condition$) {\n"
      "  ptr = codec::ReadExtension(field, tag, ptr, end, parser, *$default$,\n"
      "                             _impl_._extensions_, _internal_metadata_);\n"
      "  HARENA_CHK_(ptr);\n"
      "  continue;\n"
      "}\n",
      "condition", IsExtension(message), "default", kDefaultInstance);
}

bool HasRequired(const Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (message.field(i)->is_required()) return true;
  }
  return false;
}

// At the end of a message. Not yet an error: another part of the input may be merged into it.
void PrintRequired(const Descriptor& message, Printer& out) {
  if (!HasRequired(message)) return;
  out.Print("  if (_Internal::MissingRequiredFields(_impl_._has_bits_)) parser.DoubtRequired();\n");
}

// Behind a tag that is none of one byte of a field's.
void PrintOther(const Descriptor& message, const std::vector<Case>& cases, Printer& out) {
  if (message.extension_range_count() > 0) out.Print("const char* const field = ptr;\n");
  out.Print(
      "uint32_t tag;\n"
      "ptr = ::_pbi::ReadTag(ptr, &tag);\n"
      "HARENA_CHK_(ptr);\n");
  if (!cases.empty()) {
    // Tags of one byte are here where more bytes were taken to write them.
    out.Print("switch (tag) {\n");
    for (const Case& one : cases) {
      out.Print("  case $tag$: goto $label$;\n", "tag", std::to_string(one.tag), "label",
                LabelOf(one.tag));
    }
    out.Print("  default: break;\n}\n");
  }
  out.Print("if (codec::EndsMessage(tag)) {\n");
  PrintRequired(message, out);
  out.Print("  return parser.EndBy(tag, ptr);\n}\n");
  PrintExtensions(message, out);
  out.Print(
      "ptr = codec::ReadUnknown(tag, ptr, end, parser, _internal_metadata_);\n"
      "HARENA_CHK_(ptr);\n"
      "continue;\n");
}

// Looks at the fields of a message and of all messages below it.
template <typename Predicate>
bool AnyField(const Descriptor& message, Predicate is, std::set<const Descriptor*>& seen) {
  if (!seen.insert(&message).second) return false;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (is(field)) return true;
    if (field.message_type() != nullptr && AnyField(*field.message_type(), is, seen)) return true;
  }
  return false;
}

template <typename Predicate>
std::string AnyField(const Descriptor& message, Predicate is) {
  std::set<const Descriptor*> seen;
  return AnyField(message, is, seen) ? "true" : "false";
}

}  // namespace

std::string WireFactsOf(const Descriptor& message) {
  const auto is_text = [](const FieldDescriptor& field) {
    return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  };
  const auto is_utf8 = [](const FieldDescriptor& field) { return Utf8Name(field) != "nullptr"; };
  return "{.has_text = " + AnyField(message, is_text) +
         ", .has_utf8 = " + AnyField(message, is_utf8) + "}";
}

void PrintParser(const Descriptor& message, Printer& out) {
  out.Print(
      "bool $class$::HarenaParse(const char* ptr, const char* end,\n"
      "                          ::harena::pb::codec::Parser& parser) {\n"
      "  namespace codec = ::harena::pb::codec;\n",
      "class", cpp::ClassName(&message));
  if (kParsesByTable && message.field_count() > 0) {
    out.Print("  // Where protobuf keeps the bits of fields.\n");
    out.Print(kTablesAreMembers ? "  [[maybe_unused]] const auto& kTable = _table_;\n"
                                : "  [[maybe_unused]] static constexpr ParseTableT_ kTable =\n"
                                  "      InternalGenerateParseTable_(nullptr);\n");
  }
  out.Print("  while (ptr < end) {\n");
  out.Indent();
  out.Indent();
  const std::vector<Case> cases = CasesOf(message);
  out.Print("switch (static_cast<uint8_t>(*ptr)) {\n");
  out.Indent();
  for (const Case& one : cases) {
    if (Tag(one.tag).bytes != 1) continue;
    out.Print("case $tag$:\n  ++ptr;\n", "tag", std::to_string(one.tag));
    PrintCase(one, out);
  }
  out.Print("default: break;\n");
  out.Outdent();
  out.Print("}\n");
  out.Print("{\n");
  out.Indent();
  PrintOther(message, cases, out);
  out.Outdent();
  out.Print("}\n");
  for (const Case& one : cases) {
    if (Tag(one.tag).bytes != 1) PrintCase(one, out);
  }
  out.Outdent();
  out.Outdent();
  out.Print("  }\n");
  PrintRequired(message, out);
  out.Print(
      "  return ptr == end;\n"
      "}\n\n");
}

}  // namespace harena::codegen
