#include "parser_code.h"

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

// Elements follow each other; protobuf's look-ahead knows tags of one and two bytes.
constexpr uint32_t kRepeatTagMax = 128 * 128;

void PrintHas(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (HasHasbit(field) && !field.real_containing_oneof()) {
    out.Print(variables, "_Internal::set_has_$name$(&_impl_._has_bits_);\n");
  }
}

void PrintString(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (field.is_repeated()) {
    out.Print(variables,
              "ptr = codec::ReadRepeatedString(ptr, ctx, builder, $member$, $utf8$, $tag$);\n");
  } else {
    if (field.real_containing_oneof()) {
      out.Print(variables,
                "if (!_internal_has_$name$()) {\n"
                "  clear_$oneof$();\n"
                "  set_has_$name$();\n"
                "  $member$.InitDefault();\n"
                "}\n");
    }
    PrintHas(field, variables, out);
    out.Print(variables, "ptr = codec::ReadString(ptr, ctx, builder, $member$, $utf8$);\n");
  }
  out.Print("HARENA_CHK_(ptr);\n");
}

void PrintMap(const FieldDescriptor& field, Variables variables, Printer& out) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  if (IsClosedEnum(value)) {
    variables["enum"] = cpp::QualifiedClassName(value.enum_type());
    out.Print(variables,
              "HARENA_CHK_(builder.AllowHeap(ctx, ptr));\n"
              "auto object = ::_pbi::InitEnumParseWrapper<::google::protobuf::UnknownFieldSet>(\n"
              "    &$member$, $enum$_IsValid, $number$, &_internal_metadata_);\n"
              "ptr = ctx->ParseMessage(&object, ptr);\n");
  } else if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    out.Print(variables,
              "HARENA_CHK_(builder.AllowHeap(ctx, ptr));\n"
              "builder.DoubtRequired();\n"
              "ptr = ctx->ParseMessage(&$member$, ptr);\n");
  } else {
    variables["key_utf8"] = Utf8Name(key);
    variables["value_utf8"] = Utf8Name(value);
    out.Print(
        variables,
        "ptr = codec::ReadMapEntry(ptr, ctx, builder, $member$, $key_utf8$, $value_utf8$);\n");
  }
  out.Print("HARENA_CHK_(ptr);\n");
}

void PrintMessage(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  const bool group = field.type() == FieldDescriptor::TYPE_GROUP;
  out.Print("{\n");
  out.Indent();
  if (field.is_repeated()) {
    out.Print(variables, "auto* message = run.Add();\n");
  } else {
    // The scope's own memory instead of the arena's; the accessor does the rest.
    if (field.real_containing_oneof()) {
      out.Print(variables,
                "if (builder.frozen() && !_internal_has_$name$()) {\n"
                "  auto* made = builder.NewMessage<$message$>();\n"
                "  clear_$oneof$();\n"
                "  set_has_$name$();\n"
                "  $member$ = made;\n"
                "}\n");
    } else {
      out.Print(variables,
                "if (builder.frozen() && $member$ == nullptr) {\n"
                "  $member$ = builder.NewMessage<$message$>();\n"
                "}\n");
    }
    out.Print(variables, "auto* message = _internal_mutable_$name$();\n");
  }
  out.Print(variables, group ? "ptr = codec::ReadGroup(ptr, ctx, builder, message, $tag$u);\n"
                             : "ptr = codec::ReadMessage(ptr, ctx, builder, message);\n");
  out.Print("HARENA_CHK_(ptr);\n");
  out.Outdent();
  out.Print("}\n");
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

void PrintVarint(const FieldDescriptor& field, Variables variables, Printer& out) {
  if (field.type() == FieldDescriptor::TYPE_ENUM) {
    variables["put"] = field.is_repeated() ? "add" : "set";
    out.Print(
        "uint64_t value;\n"
        "ptr = codec::ReadVarint(ptr, &value);\n"
        "HARENA_CHK_(ptr);\n");
    if (IsClosedEnum(field)) {
      out.Print(variables,
                "if (HARENA_LIKELY($enum$_IsValid(value))) {\n"
                "  _internal_$put$_$name$(static_cast<$enum$>(value));\n"
                "} else {\n"
                "  HARENA_CHK_(builder.AllowHeap(ctx, ptr));\n"
                "  ::_pbi::WriteVarint($number$, value, mutable_unknown_fields());\n"
                "}\n");
    } else {
      out.Print(variables, "_internal_$put$_$name$(static_cast<$enum$>(value));\n");
    }
    return;
  }
  variables["kind"] = VarintKind(field);
  out.Print(
      "uint64_t value;\n"
      "ptr = codec::ReadVarint(ptr, &value);\n"
      "HARENA_CHK_(ptr);\n");
  variables["value"] = "codec::FromVarint<" + variables["primitive"] +
                       ", codec::Varint::" + variables["kind"] + ">(value)";
  if (field.is_repeated()) {
    out.Print(variables, "_internal_add_$name$($value$);\n");
  } else if (field.real_containing_oneof()) {
    out.Print(variables, "_internal_set_$name$($value$);\n");
  } else {
    PrintHas(field, variables, out);
    out.Print(variables, "$member$ = $value$;\n");
  }
}

void PrintFixed(const FieldDescriptor& field, Variables variables, Printer& out) {
  variables["read"] = "::_pbi::UnalignedLoad<" + variables["primitive"] + ">(ptr)";
  if (field.is_repeated()) {
    out.Print(variables, "_internal_add_$name$($read$);\n");
  } else if (field.real_containing_oneof()) {
    out.Print(variables, "_internal_set_$name$($read$);\n");
  } else {
    PrintHas(field, variables, out);
    out.Print(variables, "$member$ = $read$;\n");
  }
  out.Print(variables, "ptr += sizeof($primitive$);\n");
}

void PrintPacked(const FieldDescriptor& field, Variables variables, Printer& out) {
  const auto wire_type =
      WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type()));
  if (IsClosedEnum(field)) {
    out.Print(variables,
              "HARENA_CHK_(builder.AllowHeap(ctx, ptr));\n"
              "ptr = ::_pbi::PackedEnumParser<::google::protobuf::UnknownFieldSet>(\n"
              "    &$member$, ptr, ctx, $enum$_IsValid, &_internal_metadata_, $number$);\n");
  } else if (wire_type != WireFormatLite::WIRETYPE_VARINT) {
    out.Print(variables,
              "codec::ReservePackedFixed(ptr, ctx, builder, $member$);\n"
              "ptr = ::_pbi::Packed$method$Parser(&$member$, ptr, ctx);\n");
  } else {
    variables["kind"] = VarintKind(field);
    out.Print(variables,
              "ptr = codec::ReadPackedVarints<codec::Varint::$kind$>(\n"
              "    ptr, ctx, builder, $member$, [&](const char* from) {\n"
              "      return ::_pbi::Packed$method$Parser(&$member$, from, ctx);\n"
              "    });\n");
  }
  out.Print("HARENA_CHK_(ptr);\n");
}

void PrintValue(const FieldDescriptor& field, const Variables& variables, Printer& out) {
  if (field.is_map()) return PrintMap(field, variables, out);
  switch (
      WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type()))) {
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

void PrintField(const FieldDescriptor& field, Printer& out) {
  Variables variables = VariablesOf(field);
  const uint32_t tag = TagOf(field);
  variables["tag_byte"] = std::to_string(tag & 0xff);
  variables["packed_tag_byte"] = std::to_string(PackedTagOf(field) & 0xff);
  variables["tag_bytes"] = tag < 128 ? "1" : "2";
  variables["declaration"] = field.DebugString().substr(0, field.DebugString().find('\n'));
  out.Print(variables,
            "case $number$:  // $declaration$\n"
            "  if (HARENA_LIKELY(static_cast<uint8_t>(tag) == $tag_byte$)) {\n");
  out.Indent();
  out.Indent();
  // Repeated strings are read by one call.
  const bool repeat = field.is_repeated() && tag < kRepeatTagMax &&
                      field.cpp_type() != FieldDescriptor::CPPTYPE_STRING;
  const bool messages = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
                        field.is_repeated() && !field.is_map();
  if (messages) out.Print(variables, "codec::Run run($member$, builder);\n");
  if (repeat) {
    out.Print(variables,
              "ptr -= $tag_bytes$;\n"
              "do {\n"
              "  ptr += $tag_bytes$;\n");
    out.Indent();
  }
  PrintValue(field, variables, out);
  if (repeat) {
    out.Print("if (!ctx->DataAvailable(ptr)) break;\n");
    out.Outdent();
    out.Print(variables, "} while (::_pbi::ExpectTag<$tag$>(ptr));\n");
  }
  if (messages) out.Print("run.End();\n");
  out.Outdent();
  if (field.is_packable()) {
    out.Print(variables, "} else if (static_cast<uint8_t>(tag) == $packed_tag_byte$) {\n");
    out.Indent();
    PrintPacked(field, variables, out);
    out.Outdent();
  }
  out.Print(
      "} else {\n"
      "  goto handle_unusual;\n"
      "}\n"
      "continue;\n");
  out.Outdent();
}

bool HasRequired(const Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (message.field(i)->is_required()) return true;
  }
  return false;
}

void PrintUnusual(const Descriptor& message, Printer& out) {
  out.Print(
      "handle_unusual:\n"
      "  if (tag == 0 || (tag & 7) == 4) {\n"
      "    HARENA_CHK_(ptr);\n"
      "    ctx->SetLastTag(tag);\n"
      "    break;\n"
      "  }\n");
  for (int i = 0; i < message.extension_range_count(); ++i) {
    const Descriptor::ExtensionRange& range = *message.extension_range(i);
    const auto start = WireFormatLite::MakeTag(StartOf(range), WireFormatLite::WIRETYPE_VARINT);
    std::string condition = std::to_string(start) + "u <= tag";
    if (EndOf(range) <= FieldDescriptor::kMaxNumber) {
      const auto end = WireFormatLite::MakeTag(EndOf(range), WireFormatLite::WIRETYPE_VARINT);
      condition += " && tag < " + std::to_string(end) + "u";
    }
    out.Print(
        "  if ($condition$) {\n"
        "    HARENA_CHK_(builder.AllowHeap(ctx, ptr));\n"
        "    ptr = _impl_._extensions_.ParseField(tag, ptr, internal_default_instance(),\n"
        "                                         &_internal_metadata_, ctx);\n"
        "    HARENA_CHK_(ptr);\n"
        "    builder.DoubtRequired();\n"
        "    continue;\n"
        "  }\n",
        "condition", condition);
  }
  out.Print(
      "  HARENA_CHK_(builder.AllowHeap(ctx, ptr));\n"
      "  ptr = UnknownFieldParse(\n"
      "      tag,\n"
      "      _internal_metadata_.mutable_unknown_fields<::google::protobuf::UnknownFieldSet>(),\n"
      "      ptr, ctx);\n"
      "  HARENA_CHK_(ptr);\n");
}

}  // namespace

void PrintParser(const Descriptor& message, Printer& out) {
  out.Print(
      "const char* $class$::HarenaParse(const char* ptr, ::_pbi::ParseContext* ctx,\n"
      "                                 ::harena::pb::codec::Builder& builder) {\n"
      "  namespace codec = ::harena::pb::codec;\n"
      "  static_cast<void>(builder);\n"
      "  while (::harena::pb::layout::HasMore(*ctx, &ptr)) {\n"
      "    uint32_t tag;\n"
      "    ptr = ::_pbi::ReadTag(ptr, &tag);\n",
      "class", cpp::ClassName(&message));
  out.Indent();
  out.Indent();
  if (message.field_count() > 0) {
    out.Print("switch (tag >> 3) {\n");
    out.Indent();
    for (int i = 0; i < message.field_count(); ++i) PrintField(*message.field(i), out);
    out.Print("default:\n  goto handle_unusual;\n");
    out.Outdent();
    out.Print("}\n");
  }
  out.Outdent();
  PrintUnusual(message, out);
  out.Outdent();
  out.Print("  }\n");
  if (HasRequired(message)) {
    // Not yet an error: another part of the input may be merged into this message.
    out.Print(
        "  if (_Internal::MissingRequiredFields(_impl_._has_bits_)) builder.DoubtRequired();\n");
  }
  out.Print(
      "  return ptr;\n"
      "}\n\n");
}

}  // namespace harena::codegen
