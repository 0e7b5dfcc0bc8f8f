// Operations by reflection, which is the library's own code: it knows nothing of the codec.
#include <string>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/reflection.h>

#include "harena/pb/codec/test_safety.h"

// Deprecated, and still what programs call.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace harena::pb::codec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const std::string kLong(300, 'L');
const std::string kHuge(9000, 'H');

const FieldDescriptor* Field(const char* name) {
  return Whole::descriptor()->FindFieldByName(name);
}

// As generic code keeps it: from the default instance, which lives nowhere.
const Reflection& Cached() {
  static const Reflection* const reflection = Whole::default_instance().GetReflection();
  return *reflection;
}

void NeedTwo(Whole& message) {
  while (message.texts_size() < 2) message.add_texts("one of at least two texts");
  while (message.parts_size() < 2) message.add_parts()->set_name("one of at least two parts");
}

// The entry of a map field, as a message.
void SetEntry(Message* entry, const std::string& key, const std::string& value) {
  const auto* type = entry->GetDescriptor();
  entry->GetReflection()->SetString(entry, type->map_key(), key);
  entry->GetReflection()->SetString(entry, type->map_value(), value);
}

}  // namespace

const std::vector<Row<Whole>>& ReflectionRows() {
  static const std::vector<Row<Whole>> rows = {
      {"reflection_set_string",
       [](Whole& a, Whole&, Kept&) {
         Cached().SetString(&a, Field("text"), kHuge);
         Cached().SetString(&a, Field("maybe_text"), "short");
         Cached().SetString(&a, Field("blob"), std::string(kLong));
       }},
      {"reflection_set_cleared",
       [](Whole& a, Whole&, Kept&) {
         Cached().ClearField(&a, Field("text"));
         Cached().SetString(&a, Field("text"), kHuge);
         Cached().ClearField(&a, Field("maybe_blob"));
         Cached().SetString(&a, Field("maybe_blob"), kLong);
       }},
      {"reflection_oneof",
       [](Whole& a, Whole&, Kept&) {
         Cached().SetString(&a, Field("choice_text"), kHuge);
         Cached().SetString(&a, Field("choice_blob"), kLong);
         Cached().MutableMessage(&a, Field("choice_part"));
         Cached().SetString(&a, Field("choice_text"), kHuge);
         Cached().ClearOneof(&a, Whole::descriptor()->FindOneofByName("choice"));
         Cached().SetInt64(&a, Field("choice_number"), 3);
       }},
      {"reflection_add_string",
       [](Whole& a, Whole&, Kept&) {
         Cached().AddString(&a, Field("texts"), kHuge);
         Cached().AddString(&a, Field("blobs"), std::string(kLong));
       }},
      {"reflection_set_repeated",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         Cached().SetRepeatedString(&a, Field("texts"), 0, kHuge);
         Cached().SetRepeatedString(&a, Field("texts"), 1, "s");
       }},
      {"reflection_clear_each",
       [](Whole& a, Whole&, Kept&) {
         std::vector<const FieldDescriptor*> fields;
         Cached().ListFields(a, &fields);
         for (const auto* field : fields) Cached().ClearField(&a, field);
         a.add_texts(kHuge);
         a.set_text(kHuge);
       }},
      {"reflection_swap", [](Whole& a, Whole& b, Kept&) { Cached().Swap(&a, &b); }},
      {"reflection_swap_fields",
       [](Whole& a, Whole& b, Kept&) {
         std::vector<const FieldDescriptor*> fields;
         for (int i = 0; i < Whole::descriptor()->field_count(); ++i) {
           const auto* field = Whole::descriptor()->field(i);
           if (field->real_containing_oneof() == nullptr) fields.push_back(field);
         }
         Cached().SwapFields(&a, &b, fields);
       }},
      {"reflection_swap_oneof",
       [](Whole& a, Whole& b, Kept&) { Cached().SwapFields(&a, &b, {Field("choice_text")}); }},
      {"reflection_swap_elements",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         Cached().SwapElements(&a, Field("texts"), 0, 1);
         Cached().SwapElements(&a, Field("parts"), 0, 1);
       }},
      {"reflection_remove_and_release_last",
       [](Whole& a, Whole&, Kept& kept) {
         NeedTwo(a);
         Cached().RemoveLast(&a, Field("texts"));
         kept.Add(Cached().ReleaseLast(&a, Field("parts")));
         Cached().RemoveLast(&a, Field("parts"));
         Cached().AddString(&a, Field("texts"), kHuge);
         Cached().AddMessage(&a, Field("parts"));
       }},
      {"reflection_messages",
       [](Whole& a, Whole&, Kept& kept) {
         Message* part = Cached().MutableMessage(&a, Field("part"));
         const auto* name = Part::descriptor()->FindFieldByName("name");
         part->GetReflection()->SetString(part, name, kHuge);
         kept.Add(Cached().ReleaseMessage(&a, Field("part")));
         Cached().SetAllocatedMessage(&a, new Part, Field("maybe_part"));
         Cached().AddAllocatedMessage(&a, Field("parts"), new Part);
         Message* added = Cached().AddMessage(&a, Field("parts"));
         added->GetReflection()->SetString(added, name, kLong);
       }},
      {"reflection_repeated_field",
       [](Whole& a, Whole& b, Kept&) {
         auto* texts = Cached().MutableRepeatedPtrField<std::string>(&a, Field("texts"));
         texts->Add()->assign(kHuge);
         texts->MergeFrom(Cached().GetRepeatedPtrField<std::string>(b, Field("texts")));
         auto parts = Cached().GetMutableRepeatedFieldRef<Message>(&a, Field("parts"));
         parts.Add(b.part());
         auto refs = Cached().GetMutableRepeatedFieldRef<std::string>(&a, Field("texts"));
         refs.Add(kLong);
         refs.Set(0, kHuge);
         refs.SwapElements(0, 1);
       }},
      {"reflection_map_add",
       [](Whole& a, Whole&, Kept&) {
         SetEntry(Cached().AddMessage(&a, Field("words")), kLong, kHuge);
         SetEntry(Cached().AddMessage(&a, Field("words")), "short", "s");
         a.mutable_words()->at("short") += kLong;
       }},
      {"reflection_map_entries",
       [](Whole& a, Whole&, Kept&) {
         auto* entries = Cached().MutableRepeatedPtrField<Message>(&a, Field("words"));
         for (Message& entry : *entries) {
           const auto* value = entry.GetDescriptor()->map_value();
           const std::string text = entry.GetReflection()->GetString(entry, value);
           entry.GetReflection()->SetString(&entry, value, text + kLong);
         }
         (*a.mutable_words())["set after the entries"] = kHuge;
       }},
      {"reflection_map_clear",
       [](Whole& a, Whole&, Kept&) {
         Cached().ClearField(&a, Field("words"));
         SetEntry(Cached().AddMessage(&a, Field("words")), "first again", kHuge);
         Cached().ClearField(&a, Field("part_by_name"));
         Message* entry = Cached().AddMessage(&a, Field("part_by_name"));
         const auto* type = entry->GetDescriptor();
         entry->GetReflection()->SetString(entry, type->map_key(), kLong);
         static_cast<Part*>(entry->GetReflection()->MutableMessage(entry, type->map_value()))
             ->set_name(kHuge);
       }},
      {"reflection_map_read_then_set",
       [](Whole& a, Whole& b, Kept&) {
         // Makes the list of entries beside the map; then the map changes.
         a.set_choice_number(Cached().FieldSize(a, Field("words")) +
                             static_cast<int>(ReadEverything(b) % 100));
         (*a.mutable_words())["set after reading"] = kHuge;
         a.mutable_words()->erase("set after reading");
       }},
      {"reflection_unsafe",
       [](Whole& a, Whole&, Kept&) {
         Message* part = Cached().UnsafeArenaReleaseMessage(&a, Field("part"));
         if (part == nullptr) return;
         static_cast<Part*>(part)->set_name(kHuge);
         Cached().UnsafeArenaSetAllocatedMessage(&a, part, Field("part"));
       }},
      {"reflection_append_everywhere",
       [](Whole& a, Whole& b, Kept&) {
         AppendEverywhere(a, kLong);
         AppendEverywhere(b, "s");
       }},
  };
  return rows;
}

}  // namespace harena::pb::codec
