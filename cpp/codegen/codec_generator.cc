#include "codec_generator.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <vector>

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include "field_names.h"
#include "parser_code.h"
#include "protobuf_release.h"
#include "serializer_code.h"

namespace harena::codegen {
namespace {

namespace cpp = google::protobuf::compiler::cpp;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileOptions;
using google::protobuf::compiler::GeneratorContext;
using google::protobuf::io::Printer;

// Opens an insertion point and prints there.
class Insertion {
 public:
  Insertion(GeneratorContext& context, const std::string& file, const std::string& point)
      : stream_(context.OpenForInsert(file, point)), out_(stream_.get(), '$') {}
  Printer* operator->() { return &out_; }
  Printer& operator*() { return out_; }

 private:
  const std::unique_ptr<google::protobuf::io::ZeroCopyOutputStream> stream_;
  Printer out_;
};

void CollectMessages(const Descriptor& message, std::vector<const Descriptor*>& into) {
  if (message.options().map_entry()) return;
  for (int i = 0; i < message.nested_type_count(); ++i) {
    CollectMessages(*message.nested_type(i), into);
  }
  into.push_back(&message);
}

// protoc gives a class without fields its functions through a base class of the library: there is
// nothing to take over.
bool HasSimpleBase(const Descriptor& message) {
  return message.field_count() == 0 && message.extension_range_count() == 0;
}

const FieldDescriptor* FirstRepeated(const Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (HasHarenaField(*message.field(i))) return message.field(i);
  }
  return nullptr;
}

// What a class needs for the serializer, and what it says of itself.
void PrintSerializerDeclarations(const Descriptor& message, Printer& out) {
  out.Print(
      "#if HARENA_SERIALIZER\n"
      " private:\n"
      "  friend struct ::harena::pb::codec::Access;\n"
      "  uint8_t* HarenaWrite(uint8_t* to, ::harena::pb::codec::Writer& writer,\n"
      "                       uint32_t tag) const;\n"
      "\n"
      " public:\n"
      "  using HarenaCodec = $class$;\n"
      "#endif  // HARENA_SERIALIZER\n",
      "class", cpp::ClassName(&message));
}

// What it needs for the parser.
void PrintParserDeclarations(const Descriptor& message, Printer& out) {
  out.Print(
      "#if HARENA_CODEC\n"
      " private:\n"
      "  bool HarenaParse(const char* ptr, const char* end, "
      "::harena::pb::codec::Parser& parser);\n"
      "\n"
      " public:\n"
      "  static constexpr ::harena::pb::codec::WireFacts kHarenaWire = $facts$;\n",
      "facts", WireFactsOf(message));
  if (kParsesByTable) {
    out.Print(
        "  using HarenaTableOf = $class$;\n"
        "  static const char* HarenaEnter($class$& message, const char* ptr,\n"
        "                                 ::google::protobuf::internal::ParseContext* ctx,\n"
        "                                 const ::google::protobuf::internal::TcParseTableBase* "
        "stock);\n",
        "class", cpp::ClassName(&message));
  }
  out.Print("#endif  // HARENA_CODEC\n");
}

void InsertDeclarations(const Descriptor& message, const std::string& header,
                        GeneratorContext& context) {
  if (HasSimpleBase(message)) return;
  Insertion out(context, header, "class_scope:" + std::string(message.full_name()));
  const std::string why_stock = WhyStock(message);
  if (kParsesByFunction) {
    out->Print(
        "#if HARENA_CODEC\n"
        " private:\n"
        "  const char* HarenaStockInternalParse(const char* ptr,\n"
        "                                       ::google::protobuf::internal::ParseContext* "
        "ctx);\n"
        "\n"
        " public:\n"
        "#endif  // HARENA_CODEC\n");
  }
  if (!why_stock.empty()) {
    out->Print("  // No codec: $why$.\n", "why", why_stock);
    return;
  }
  PrintSerializerDeclarations(message, *out);
  PrintParserDeclarations(message, *out);
  if (FirstRepeated(message) != nullptr) {
    out->Print(
        "#if HARENA_CODEC\n"
        "// What follows is where the fields lie.\n"
        "#define RepeatedField HarenaRepeatedField\n"
        "#define RepeatedPtrField HarenaRepeatedPtrField\n"
        "#endif\n");
  }
}

// Ends what InsertDeclarations() has begun, wherever accessors are next to name these types: before
// the next class, and in the first accessor of each message's repeated fields, whose insertion
// point comes before any such name. Were one left out, the accessor's declaration and definition
// would differ and not compile.
void EndRepeatedNames(const std::vector<const Descriptor*>& messages, const std::string& header,
                      GeneratorContext& context) {
  const auto has_repeated = [](const Descriptor* message) {
    return FirstRepeated(*message) != nullptr;
  };
  if (std::none_of(messages.begin(), messages.end(), has_repeated)) return;
  constexpr char kEnd[] = "#undef RepeatedField\n#undef RepeatedPtrField\n";
  for (size_t i = 1; i < messages.size(); ++i) {
    Insertion out(context, header, "class_definition:" + std::string(messages[i]->full_name()));
    out->PrintRaw("\n");
    out->PrintRaw(kEnd);
  }
  for (const Descriptor* message : messages) {
    const FieldDescriptor* const field = FirstRepeated(*message);
    if (field == nullptr) continue;
    const bool pointers = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    Insertion out(context, header,
                  (pointers ? "field_mutable:" : "field_get:") + std::string(field->full_name()));
    out->PrintRaw(kEnd);
  }
}

// Has the table of a class, which is defined between two insertion points, be of our type.
void InsertTable(const Descriptor& message, const std::string& source, GeneratorContext& context) {
  const std::string name(message.full_name());
  Insertion(context, source, "destructor:" + name)
      ->Print(
          "\n#if HARENA_CODEC\n"
          "#define TcParseTable HarenaTable<$class$>::Of\n"
          "#endif\n",
          "class", cpp::ClassName(&message));
  Insertion(context, source, "serialize_to_array_start:" + name)
      ->Print(
          "\n#if HARENA_CODEC\n"
          "#undef TcParseTable\n"
          "#endif\n");
}

void InsertHooks(const Descriptor& message, const std::string& source, GeneratorContext& context) {
  const std::map<std::string, std::string> variables = {{"self", kSelfInSerializer},
                                                        {"set_cached_size", kSetCachedSize}};
  if (kTablesAreMembers) InsertTable(message, source, context);
  Insertion write(context, source, "serialize_to_array_start:" + std::string(message.full_name()));
  write->Print(variables,
               "#if HARENA_SERIALIZER\n"
               "  if (uint8_t* harena_end = ::harena::pb::codec::Write($self$, target, stream)) {\n"
               "    return harena_end;\n"
               "  }\n"
               "#endif  // HARENA_SERIALIZER\n");
  Insertion size(context, source, "message_byte_size_start:" + std::string(message.full_name()));
  size->Print(variables,
              "#if HARENA_SERIALIZER\n"
              "  size_t harena_size;\n"
              "  if (::harena::pb::codec::SizeByWriting($self$, &harena_size)) {\n"
              "    $set_cached_size$(::_pbi::ToCachedSize(harena_size));\n"
              "    return harena_size;\n"
              "  }\n"
              "#endif  // HARENA_SERIALIZER\n");
  if (kParsesByTable) return;  // this protobuf looks itself
  Insertion destructor(context, source, "destructor:" + std::string(message.full_name()));
  destructor->Print(
      "#if HARENA_CODEC && !defined(NDEBUG)\n"
      "  ::harena::pb::codec::CheckNotOnArena(GetArena(), \"$name$\");\n"
      "#endif\n",
      "name", std::string(message.full_name()));
}

// What protobuf enters the class by.
void PrintEntry(const Descriptor& message, Printer& out) {
  const std::string name = cpp::ClassName(&message);
  if (kParsesByTable) {
    out.Print(
        "const char* $class$::HarenaEnter($class$& message, const char* ptr,\n"
        "                                 ::_pbi::ParseContext* ctx,\n"
        "                                 const ::_pbi::TcParseTableBase* stock) {\n"
        "  return ::harena::pb::codec::ParseOrStock(message, ptr, ctx, [&] {\n"
        "    return ::_pbi::TcParser::ParseLoop(&message, ptr, ctx, stock);\n"
        "  });\n"
        "}\n\n",
        "class", name);
    return;
  }
  out.Print(
      "const char* $class$::_InternalParse(const char* ptr, ::_pbi::ParseContext* ctx) {\n"
      "  return ::harena::pb::codec::ParseOrStock(\n"
      "      *this, ptr, ctx, [&] { return HarenaStockInternalParse(ptr, ctx); });\n"
      "}\n\n",
      "class", name);
}

void PrintParserDefinitions(const Descriptor& message, Printer& out) {
  if (HasSimpleBase(message)) return;
  if (WhyStock(message).empty()) {
    PrintEntry(message, out);
    PrintParser(message, out);
  } else if (kParsesByFunction) {
    out.Print(
        "const char* $class$::_InternalParse(const char* ptr, ::_pbi::ParseContext* ctx) {\n"
        "  return HarenaStockInternalParse(ptr, ctx);\n"
        "}\n\n",
        "class", cpp::ClassName(&message));
  }
}

void PrintRegistration(const std::vector<const Descriptor*>& messages, const std::string& base,
                       Printer& out) {
  // A name of the file's own, for those who compile several files as one.
  std::string suffix;
  for (const char c : base) suffix += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  out.Print("static const ::harena::pb::CodecMessage kHarenaMessages_$suffix$[] = {\n", "suffix",
            suffix);
  for (const Descriptor* message : messages) {
    out.Print("    {\"$name$\", \"$why$\"},\n", "name", message->full_name(), "why",
              WhyStock(*message));
  }
  out.Print(
      "};\n"
      "static const ::harena::pb::codec::Registration kHarenaRegistration_$suffix$(\n"
      "    kHarenaMessages_$suffix$);\n\n",
      "suffix", suffix);
}

void InsertIncludes(const std::string& header, const std::string& source,
                    GeneratorContext& context) {
  Insertion header_top(context, header, "includes");
  header_top->Print("#include \"harena/pb/codec/generated_header.h\"\n");
  header_top->Print(
      "#if HARENA_CODEC\n"
      "// The string fields of this file's classes; undone at its end.\n"
      "#define ArenaStringPtr HarenaArenaStringPtr\n");
  if (kParsesByTable) {
    header_top->Print(
        "// The parse tables too.\n"
        "#define TcParseTable HarenaTable<HarenaTableOf>::Of\n");
  }
  header_top->Print("#endif\n");
  Insertion header_end(context, header, "global_scope");
  header_end->Print("#if HARENA_CODEC\n#undef ArenaStringPtr\n");
  if (kParsesByTable) header_end->Print("#undef TcParseTable\n");
  header_end->Print("#endif\n");
  Insertion source_top(context, source, "includes");
  source_top->Print("#include \"harena/pb/codec/generated_source.h\"\n");
  if (kParsesByFunction) {
    source_top->Print(
        "#if HARENA_CODEC\n"
        "// protobuf's own parser stays, by another name.\n"
        "#define _InternalParse HarenaStockInternalParse\n"
        "#endif\n");
  }
}

}  // namespace

std::string WhyStock(const FileDescriptor& file) {
  if (!kTakesCodec) return "it does not know the classes of protobuf " + ReleaseName();
  switch (file.options().optimize_for()) {
    case FileOptions::LITE_RUNTIME:
      return "the file is optimized for LITE_RUNTIME";
    case FileOptions::CODE_SIZE:
      return "the file is optimized for CODE_SIZE, which has no generated parser to take over";
    default:
      return "";
  }
}

std::string WhyStock(const Descriptor& message) {
  if (std::string why = WhyStock(*message.file()); !why.empty()) return why;
  if (HasSimpleBase(message)) return "it has no fields";
  if (message.options().message_set_wire_format()) return "it has message_set_wire_format";
  for (int i = 0; i < message.field_count(); ++i) {
    if (IsCord(*message.field(i))) {
      return "its field " + std::string(message.field(i)->name()) + " is an absl::Cord";
    }
  }
  return "";
}

bool CodecGenerator::Generate(const FileDescriptor& file, GeneratorContext& context,
                              std::string* /*error*/) const {
  const std::string base = cpp::StripProto(file.name());
  const std::string header = base + ".pb.h";
  const std::string source = base + ".pb.cc";
  if (const std::string why_stock = WhyStock(file); !why_stock.empty()) {
    Insertion out(context, header, "includes");
    out->Print("// No codec by protoc-gen-harena: $why$.\n", "why", why_stock);
    return true;
  }
  std::vector<const Descriptor*> messages;
  for (int i = 0; i < file.message_type_count(); ++i) {
    CollectMessages(*file.message_type(i), messages);
  }

  InsertIncludes(header, source, context);
  for (const Descriptor* message : messages) {
    InsertDeclarations(*message, header, context);
    if (WhyStock(*message).empty()) InsertHooks(*message, source, context);
  }
  EndRepeatedNames(messages, header, context);
  Insertion source_end(context, source, "namespace_scope");
  source_end->Print("#if HARENA_CODEC\n");
  if (kParsesByFunction) source_end->Print("#undef _InternalParse\n");
  source_end->Print(
      "#define HARENA_CHK_(x) \\\n"
      "  if (HARENA_UNLIKELY((x) == nullptr)) return false\n\n");
  for (const Descriptor* message : messages) PrintParserDefinitions(*message, *source_end);
  source_end->Print(
      "#undef HARENA_CHK_\n"
      "#endif  // HARENA_CODEC\n"
      "#if HARENA_SERIALIZER\n");
  for (const Descriptor* message : messages) {
    if (WhyStock(*message).empty()) PrintSerializer(*message, *source_end);
  }
  if (!messages.empty()) PrintRegistration(messages, base, *source_end);
  source_end->Print("#endif  // HARENA_SERIALIZER\n");
  return true;
}

}  // namespace harena::codegen
