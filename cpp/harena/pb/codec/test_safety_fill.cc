// The contents of test_safety.h's messages, and walks over them by reflection.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/reflection.h>

#include "harena/pb/codec/test_safety.h"
#include "harena/pb/layout/family.h"

namespace harena::pb::codec {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string Text(const std::string& name, Length length) {
  constexpr size_t kBytes[] = {12, 40, 5000};
  std::string text = name + ":";
  if (text.size() < kBytes[static_cast<int>(length)]) {
    text.resize(kBytes[static_cast<int>(length)], 'x');
  }
  return text;
}

void Fill(Part& part, const std::string& name, Length length) {
  part.set_name(Text(name + " name", length));
  part.set_blob(Text(name + " \xff blob", length));
  part.set_weight(7);
  part.add_tags(Text(name + " tag", length));
  part.add_tags("");
  (*part.mutable_notes())[Text(name + " key", length)] = Text(name + " note", length);
  part.mutable_inner()->set_name(Text(name + " inner", length));
}

void Fill(Whole& message, const std::string& name, Length length) {
  message.set_text(Text(name + " text", length));
  message.set_blob(Text(name + " blob \xff", length));
  message.set_maybe_text(Text(name + " maybe", length));
  message.set_maybe_blob(Text(name + " maybe \xfe", length));
  for (const char* number : {" 0", " 1", " 2"}) {
    message.add_texts(Text(name + number, length));
    message.add_blobs(Text(name + " \xfd" + number, length));
    Fill(*message.add_parts(), name + number, length);
  }
  (*message.mutable_words())[Text(name + " word", length)] = Text(name + " meaning", length);
  Fill((*message.mutable_part_by_name())[Text(name + " of", length)], name + " part", length);
  (*message.mutable_text_by_number())[5] = Text(name + " five", length);
  Fill(*message.mutable_part(), name + " part", length);
  Fill(*message.mutable_maybe_part(), name + " maybe part", length);
  message.set_choice_text(Text(name + " choice", length));
  static_cast<void>(message.mutable_any()->PackFrom(message.part()));
  static_cast<void>(message.add_anys()->PackFrom(message.maybe_part()));
  for (int i = -2; i < 3; ++i) {
    message.add_numbers(i * 1000);
    message.add_ratios(i / 8.0);
    message.add_deltas(i * 100'000'000'000);
  }
  message.mutable_whole()->set_text(Text(name + " below", length));
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(
      1000, Text(name + " unknown", length));
}

void Fill(Whole2& message, const std::string& name, Length length) {
  message.set_text(Text(name + " text", length));
  message.set_text_or(Text(name + " text or", length));
  message.set_short_or(Text(name + " short or", length));
  message.set_blob_or(Text(name + " blob \xff", length));
  for (const char* number : {" 0", " 1"}) {
    message.add_texts(Text(name + number, length));
    message.add_numbers(static_cast<int>(message.texts_size()) - 2);
    message.add_line()->set_line_text(Text(name + " line" + number, length));
#if !HARENA_PARSES_BY_TABLE  // which ends the process where a parsed one meets one that was added
    message.AddExtension(harena::test::safety::remarks, Text(name + " remark" + number, length));
#endif
  }
  message.mutable_note()->set_note_text(Text(name + " note", length));
  message.set_choice_text(Text(name + " choice", length));
  (*message.mutable_kinds())[Text(name + " kind", length)] = Whole2::KIND_TWO;
  (*message.mutable_blob_by_name())[Text(name + " of", length)] = Text(name + " \xff", length);
  message.mutable_whole()->set_text_or(Text(name + " below", length));
  message.set_kind(Whole2::KIND_ONE);
  message.SetExtension(harena::test::safety::remark, Text(name + " remark", length));
  message.MutableExtension(harena::test::safety::more)->set_text(Text(name + " more", length));
  message.mutable_unknown_fields()->AddLengthDelimited(1000, Text(name + " unknown", length));
}

void AppendEverywhere(Message& message, const std::string& more) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    // A key must stay what it is: the map would not find it again.
    if (message.GetDescriptor()->options().map_entry() && field->number() == 1) continue;
    // An Any has to stay one.
    if (message.GetDescriptor()->full_name() == "google.protobuf.Any") continue;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        if (field->is_repeated()) {
          std::string text = reflection.GetRepeatedString(message, field, i) + more;
          reflection.SetRepeatedString(&message, field, i, std::move(text));
        } else {
          reflection.SetString(&message, field, reflection.GetString(message, field) + more);
        }
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        AppendEverywhere(field->is_repeated()
                             ? *reflection.MutableRepeatedMessage(&message, field, i)
                             : *reflection.MutableMessage(&message, field),
                         more);
      }
    }
  }
}

size_t ReadEverything(const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  size_t sum = 0;
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string scratch;
        const std::string& text =
            field->is_repeated()
                ? reflection.GetRepeatedStringReference(message, field, i, &scratch)
                : reflection.GetStringReference(message, field, &scratch);
        for (const char c : text) sum += static_cast<uint8_t>(c);
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        sum +=
            ReadEverything(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                : reflection.GetMessage(message, field));
      } else {
        sum += static_cast<size_t>(field->number());
      }
    }
  }
  return sum + static_cast<size_t>(reflection.GetUnknownFields(message).field_count());
}

}  // namespace harena::pb::codec
