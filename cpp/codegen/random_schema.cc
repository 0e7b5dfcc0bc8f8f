#include "random_schema.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harena::codegen {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FieldOptions;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileOptions;
using google::protobuf::MethodDescriptorProto;
using google::protobuf::ServiceDescriptorProto;

constexpr std::string_view kPackages[] = {
    "", "a", "random.v1", "operators.of", "harena.pb", "harena", "google.protobuf.mine"};
constexpr std::string_view kMessages[] = {"A",      "Message", "Class", "string",   "int",
                                          "struct", "foo_bar", "_Foo",  "Arena",    "Builder",
                                          "Access", "Scope",   "Empty", "operator", "Type"};
// None of them makes an accessor that is another one's: `x` and `has_x`, say.
constexpr std::string_view kFields[] = {
    "class", "new",   "operator", "default", "int",    "name",   "Value",    "camelCase", "x1",
    "_x",    "y_",    "UPPER",    "wire",    "ptr",    "ctx",    "arena_",   "builder",   "tag",
    "this",  "false", "context",  "target",  "stream", "cached", "metadata", "message",   "entry"};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  FileDescriptorProto File() {
    FileDescriptorProto file;
    file.set_name("random.proto");
    proto3_ = OneIn(2);
    file.set_syntax(proto3_ ? "proto3" : "proto2");
    const std::string package(kPackages[Below(std::size(kPackages))]);
    if (!package.empty()) file.set_package(package);
    prefix_ = package.empty() ? "." : "." + package + ".";
    Options(*file.mutable_options());
    *file.add_enum_type() = Enum("Kind", "KIND_");
    enum_ = prefix_ + "Kind";
    // Names first: fields may have messages that come later as their type.
    std::vector<std::string_view> names(std::begin(kMessages), std::end(kMessages));
    std::shuffle(names.begin(), names.end(), random_);
    names.resize(1 + Below(5));
    for (const std::string_view name : names) messages_.push_back(prefix_ + std::string(name));
    for (const std::string_view name : names) {
      Fill(*file.add_message_type(), std::string(name), 0);
    }
    if (OneIn(2)) *file.add_service() = Service();
    return file;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }
  bool OneIn(size_t n) { return Below(n) == 0; }

  void Options(FileOptions& options) {
    if (OneIn(3)) {
      options.set_optimize_for(OneIn(2) ? FileOptions::LITE_RUNTIME : FileOptions::CODE_SIZE);
    }
    if (OneIn(4)) options.set_cc_enable_arenas(OneIn(2));
    if (OneIn(6)) options.set_java_package("no.matter");
  }

  EnumDescriptorProto Enum(const std::string& name, const std::string& prefix) {
    EnumDescriptorProto made;
    made.set_name(name);
    int number = 0;  // proto3, and values of maps, want it to be the first
    for (size_t i = 0; i <= Below(5); ++i) {
      auto& value = *made.add_value();
      value.set_name(prefix + std::to_string(i));
      value.set_number(number);
      number = i == 0 && OneIn(2) ? -5 : std::abs(number) + static_cast<int>(1 + Below(300));
    }
    return made;
  }

  int Number(std::vector<int>& taken) {
    for (;;) {
      size_t number = 1 + Below(OneIn(3) ? 15 : OneIn(4) ? 536'870'911 : 3000);
      if (number >= 19'000 && number <= 19'999) continue;
      if (number >= 1'000'000 && number <= 1'999'999) continue;  // extensions have those
      if (std::find(taken.begin(), taken.end(), static_cast<int>(number)) != taken.end()) continue;
      taken.push_back(static_cast<int>(number));
      return taken.back();
    }
  }

  void Fill(DescriptorProto& message, const std::string& name, int depth) {
    message.set_name(name);
    if (!proto3_ && OneIn(12)) {
      message.mutable_options()->set_message_set_wire_format(true);
      auto& range = *message.add_extension_range();
      range.set_start(4);
      range.set_end(2'147'483'647);
      return;
    }
    if (!proto3_ && OneIn(4)) {
      auto& range = *message.add_extension_range();
      range.set_start(1'000'000);
      range.set_end(2'000'000);
    }
    std::vector<std::string_view> names(std::begin(kFields), std::end(kFields));
    std::shuffle(names.begin(), names.end(), random_);
    names.resize(Below(OneIn(8) ? names.size() : 9));
    std::vector<int> taken;
    const int oneofs = OneIn(2) ? static_cast<int>(1 + Below(2)) : 0;
    std::vector<bool> used(static_cast<size_t>(oneofs));
    std::vector<std::pair<FieldDescriptorProto, int>> fields;
    for (const std::string_view field_name : names) {
      const int oneof =
          oneofs != 0 && OneIn(3) ? static_cast<int>(Below(static_cast<size_t>(oneofs))) : -1;
      if (oneof >= 0) used[static_cast<size_t>(oneof)] = true;
      fields.emplace_back(Field(message, std::string(field_name), Number(taken), oneof >= 0, depth),
                          oneof);
    }
    // An empty oneof is none.
    std::vector<int> index(used.size(), -1);
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      index[i] = message.oneof_decl_size();
      message.add_oneof_decl()->set_name("choice" + std::to_string(i));
    }
    // Those of one oneof stand side by side, as protoc's own parser has them.
    std::stable_sort(fields.begin(), fields.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    for (auto& [field, oneof] : fields) {
      if (oneof >= 0) field.set_oneof_index(index[static_cast<size_t>(oneof)]);
      *message.add_field() = field;
    }
    if (!proto3_) return;
    for (auto& field : *message.mutable_field()) {
      if (field.label() != FieldDescriptorProto::LABEL_OPTIONAL || field.has_oneof_index())
        continue;
      if (field.type() == FieldDescriptorProto::TYPE_MESSAGE || !OneIn(4)) continue;
      field.set_proto3_optional(true);
      field.set_oneof_index(message.oneof_decl_size());
      message.add_oneof_decl()->set_name("_" + field.name());
    }
  }

  FieldDescriptorProto Field(DescriptorProto& message, const std::string& name, int number,
                             bool in_oneof, int depth) {
    FieldDescriptorProto field;
    field.set_name(name);
    field.set_number(number);
    field.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
    if (!in_oneof && OneIn(3)) field.set_label(FieldDescriptorProto::LABEL_REPEATED);
    if (!in_oneof && !proto3_ && OneIn(8)) field.set_label(FieldDescriptorProto::LABEL_REQUIRED);
    if (!in_oneof && OneIn(8)) {
      Map(message, field);
      return field;
    }
    const auto type = static_cast<FieldDescriptorProto::Type>(1 + Below(18));
    if (type == FieldDescriptorProto::TYPE_GROUP) {
      if (proto3_ || depth > 2) {
        field.set_type(FieldDescriptorProto::TYPE_STRING);
        return field;
      }
      const std::string group = "Group" + std::to_string(number);
      field.set_name("group" + std::to_string(number));
      field.set_type(type);
      const std::string outer = prefix_;
      prefix_ += message.name() + ".";
      field.set_type_name(prefix_ + group);
      DescriptorProto& nested = *message.add_nested_type();
      Fill(nested, group, depth + 1);
      // A group is no message set.
      nested.clear_options();
      if (nested.field_size() == 0) nested.clear_extension_range();
      prefix_ = outer;
      return field;
    }
    field.set_type(type);
    if (type == FieldDescriptorProto::TYPE_ENUM) field.set_type_name(enum_);
    if (type == FieldDescriptorProto::TYPE_MESSAGE) {
      field.set_type_name(messages_[Below(messages_.size())]);
    }
    FieldTuning(field);
    return field;
  }

  void FieldTuning(FieldDescriptorProto& field) {
    const bool repeated = field.label() == FieldDescriptorProto::LABEL_REPEATED;
    const bool text = field.type() == FieldDescriptorProto::TYPE_STRING ||
                      field.type() == FieldDescriptorProto::TYPE_BYTES;
    const bool message = field.type() == FieldDescriptorProto::TYPE_MESSAGE;
    if (repeated && !text && !message && OneIn(2)) field.mutable_options()->set_packed(OneIn(2));
    if (text && OneIn(6)) {
      field.mutable_options()->set_ctype(OneIn(2) ? FieldOptions::CORD
                                                  : FieldOptions::STRING_PIECE);
    }
    if (message && OneIn(6)) field.mutable_options()->set_lazy(true);
    if (OneIn(10)) field.mutable_options()->set_deprecated(true);
    if (proto3_ || repeated || field.label() == FieldDescriptorProto::LABEL_REQUIRED) return;
    if (text && OneIn(3)) field.set_default_value("a \"default\"\\n");
    if (field.type() == FieldDescriptorProto::TYPE_INT32 && OneIn(3)) {
      field.set_default_value("-2147483648");
    }
    if (field.type() == FieldDescriptorProto::TYPE_DOUBLE && OneIn(3))
      field.set_default_value("-inf");
    if (field.type() == FieldDescriptorProto::TYPE_BOOL && OneIn(3))
      field.set_default_value("true");
  }

  // As protoc makes an entry of a map: a nested message that only it may have.
  void Map(DescriptorProto& message, FieldDescriptorProto& field) {
    static constexpr FieldDescriptorProto::Type kKeys[] = {
        FieldDescriptorProto::TYPE_STRING, FieldDescriptorProto::TYPE_INT32,
        FieldDescriptorProto::TYPE_UINT64, FieldDescriptorProto::TYPE_BOOL,
        FieldDescriptorProto::TYPE_SFIXED32};
    static constexpr FieldDescriptorProto::Type kValues[] = {
        FieldDescriptorProto::TYPE_STRING, FieldDescriptorProto::TYPE_BYTES,
        FieldDescriptorProto::TYPE_DOUBLE, FieldDescriptorProto::TYPE_ENUM,
        FieldDescriptorProto::TYPE_MESSAGE};
    // protobuf derives the entry's name from the field's.
    field.set_name("map" + std::to_string(field.number()));
    const std::string entry_name = "Map" + std::to_string(field.number()) + "Entry";
    DescriptorProto& entry = *message.add_nested_type();
    entry.set_name(entry_name);
    entry.mutable_options()->set_map_entry(true);
    auto& key = *entry.add_field();
    key.set_name("key");
    key.set_number(1);
    key.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
    key.set_type(kKeys[Below(std::size(kKeys))]);
    auto& value = *entry.add_field();
    value.set_name("value");
    value.set_number(2);
    value.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
    value.set_type(kValues[Below(std::size(kValues))]);
    if (value.type() == FieldDescriptorProto::TYPE_ENUM) value.set_type_name(enum_);
    if (value.type() == FieldDescriptorProto::TYPE_MESSAGE) {
      value.set_type_name(messages_[Below(messages_.size())]);
    }
    field.set_label(FieldDescriptorProto::LABEL_REPEATED);
    field.set_type(FieldDescriptorProto::TYPE_MESSAGE);
    field.set_type_name(prefix_ + message.name() + "." + entry_name);
  }

  ServiceDescriptorProto Service() {
    ServiceDescriptorProto service;
    service.set_name("Service");
    for (size_t i = 0; i < Below(5); ++i) {
      MethodDescriptorProto& method = *service.add_method();
      method.set_name("Method" + std::to_string(i));
      method.set_input_type(messages_[Below(messages_.size())]);
      method.set_output_type(messages_[Below(messages_.size())]);
      method.set_client_streaming(OneIn(3));
      method.set_server_streaming(OneIn(3));
    }
    return service;
  }

  std::mt19937_64 random_;
  bool proto3_ = false;
  std::string prefix_;
  std::string enum_;
  std::vector<std::string> messages_;
};

}  // namespace

FileDescriptorProto RandomSchema(uint64_t seed) { return Maker(seed).File(); }

}  // namespace harena::codegen
