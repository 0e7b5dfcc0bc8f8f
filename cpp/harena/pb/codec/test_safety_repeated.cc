// Operations on repeated fields and on maps.
#include <algorithm>
#include <string>
#include <utility>

#include "harena/pb/codec/test_safety.h"

namespace harena::pb::codec {
namespace {

const std::string kLong(300, 'L');
const std::string kHuge(9000, 'H');

// Rows come in any order: an operation on the last element needs one.
void NeedTwo(Whole& message) {
  while (message.texts_size() < 2) message.add_texts("one of at least two texts");
  while (message.parts_size() < 2) message.add_parts()->set_name("one of at least two parts");
}

// Newer protobuf has it under the standard library's name.
template <typename Field>
void Resize(Field& field, int size, double value) {
  if constexpr (requires { field.resize(size, value); }) {
    field.resize(size, value);
  } else {
    field.Resize(size, value);
  }
}

}  // namespace

const std::vector<Row<Whole>>& RepeatedRows() {
  static const std::vector<Row<Whole>> rows = {
      {"add",
       [](Whole& a, Whole&, Kept&) {
         a.add_texts(kLong);
         a.add_texts("short");
         a.add_texts(std::string(kHuge));
         a.add_texts(kLong.c_str());
         a.add_texts(kLong.data(), 20);
         a.add_texts()->append(kHuge);
         a.add_blobs(static_cast<const void*>(kLong.data()), kLong.size());
       }},
      {"add_many",
       [](Whole& a, Whole&, Kept&) {
         for (int i = 0; i < 60; ++i) a.add_texts("a text that is one of sixty");
       }},
      {"add_own",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.add_texts(std::string(a.texts(0)));
       }},
      {"set",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.set_texts(0, kHuge);
         a.set_texts(1, std::string(kLong));
         a.set_texts(1, kLong.c_str());
         a.set_texts(0, kLong.data(), 17);
       }},
      {"mutable_append",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.mutable_texts(0)->append(kHuge);
         a.mutable_texts(1)->clear();
       }},
      {"move_out",
       [](Whole& a, Whole&, Kept& kept) {
         NeedTwo(a);
         kept.Add(std::move(*a.mutable_texts(0)));
         a.set_texts(0, kLong);
         a.mutable_texts(1)->swap(*a.mutable_text());
       }},
      {"remove_last_and_add_longer",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.mutable_texts()->RemoveLast();
         a.add_texts(kHuge);
         a.mutable_parts()->RemoveLast();
         a.add_parts()->set_name(kHuge);
       }},
      {"clear_and_add_longer",
       [](Whole& a, Whole&, Kept&) {
         a.clear_texts();
         a.add_texts(kHuge);
         a.mutable_blobs()->Clear();
         for (int i = 0; i < 10; ++i) a.add_blobs()->assign(kHuge);
         a.clear_parts();
         for (int i = 0; i < 5; ++i) a.add_parts()->add_tags(kHuge);
       }},
      {"swap_elements",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.mutable_texts()->SwapElements(0, 1);
         a.mutable_parts()->SwapElements(0, 1);
         std::swap(*a.mutable_texts(0), *a.mutable_texts(1));
         a.mutable_texts(0)->append(kHuge);
       }},
      {"delete_subrange",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.mutable_texts()->DeleteSubrange(0, 1);
         a.mutable_parts()->DeleteSubrange(1, 1);
         a.add_texts(kHuge);
       }},
      {"erase",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.mutable_texts()->erase(a.mutable_texts()->begin());
         a.mutable_parts()->erase(a.mutable_parts()->cbegin(), a.mutable_parts()->cend());
         a.add_parts()->set_name(kLong);
       }},
      {"release_last",
       [](Whole& a, Whole&, Kept& kept) {
         NeedTwo(a);
         kept.Add(a.mutable_texts()->ReleaseLast());
         kept.Add(a.mutable_parts()->ReleaseLast());
         a.add_texts(kHuge);
       }},
      {"add_allocated",
       [](Whole& a, Whole&, Kept&) {
         a.mutable_texts()->AddAllocated(new std::string(kHuge));
         auto* part = new Part;
         Fill(*part, "given", Length::kMiddle);
         a.mutable_parts()->AddAllocated(part);
         a.mutable_texts()->rbegin()->append(kLong);
       }},
      {"add_allocated_after_remove",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.mutable_texts()->RemoveLast();
         a.mutable_texts()->AddAllocated(new std::string(kLong));
         a.mutable_parts()->RemoveLast();
         a.mutable_parts()->AddAllocated(new Part);
       }},
      {"release_to_other",
       [](Whole& a, Whole& b, Kept&) {
         NeedTwo(a);
         b.mutable_parts()->AddAllocated(a.mutable_parts()->ReleaseLast());
         b.mutable_texts()->AddAllocated(a.mutable_texts()->ReleaseLast());
       }},
      {"release_cleared",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         a.clear_texts();
         a.mutable_texts()->Reserve(50);
         a.add_texts(kLong);
       }},
      {"extract_subrange",
       [](Whole& a, Whole&, Kept& kept) {
         NeedTwo(a);
         std::string* texts[2];
         a.mutable_texts()->ExtractSubrange(0, 2, texts);
         kept.Add(texts[0]);
         kept.Add(texts[1]);
         Part* parts[1];
         a.mutable_parts()->ExtractSubrange(1, 1, parts);
         kept.Add(parts[0]);
       }},
      {"unsafe_release_and_add",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         std::string* text = a.mutable_texts()->UnsafeArenaReleaseLast();
         text->append(kHuge);
         a.mutable_texts()->UnsafeArenaAddAllocated(text);
         Part* part = a.mutable_parts()->UnsafeArenaReleaseLast();
         part->set_name(kHuge);
         a.mutable_parts()->UnsafeArenaAddAllocated(part);
       }},
      {"copy_field", [](Whole& a, Whole& b, Kept&) { a.mutable_texts()->CopyFrom(b.texts()); }},
      {"assign_field", [](Whole& a, Whole& b, Kept&) { *a.mutable_parts() = b.parts(); }},
      {"merge_field",
       [](Whole& a, Whole& b, Kept&) {
         a.mutable_texts()->MergeFrom(b.texts());
         a.mutable_blobs()->MergeFrom(b.texts());
         a.mutable_texts()->Add(b.texts().begin(), b.texts().end());
       }},
      {"swap_field",
       [](Whole& a, Whole& b, Kept&) {
         a.mutable_texts()->Swap(b.mutable_texts());
         a.mutable_parts()->Swap(b.mutable_parts());
         a.mutable_numbers()->Swap(b.mutable_numbers());
       }},
      {"move_field",
       [](Whole& a, Whole& b, Kept&) {
         *a.mutable_texts() = std::move(*b.mutable_texts());
         b.clear_texts();
         google::protobuf::RepeatedPtrField<Part> parts = std::move(*a.mutable_parts());
         a.clear_parts();
         *b.mutable_parts() = std::move(parts);
       }},
      {"sort",
       [](Whole& a, Whole&, Kept&) {
         std::sort(a.mutable_texts()->begin(), a.mutable_texts()->end());
         std::sort(a.mutable_parts()->pointer_begin(), a.mutable_parts()->pointer_end(),
                   [](const Part* x, const Part* y) { return x->name() < y->name(); });
         std::reverse(a.mutable_blobs()->begin(), a.mutable_blobs()->end());
         std::rotate(a.mutable_texts()->pointer_begin(),
                     a.mutable_texts()->pointer_begin() + a.texts_size() / 2,
                     a.mutable_texts()->pointer_end());
       }},
      {"numbers",
       [](Whole& a, Whole& b, Kept&) {
         for (int i = 0; i < 100; ++i) a.add_numbers(-i);
         Resize(*a.mutable_ratios(), 70, 0.5);
         a.mutable_deltas()->MergeFrom(b.deltas());
         a.mutable_numbers()->erase(a.mutable_numbers()->begin());
         a.mutable_numbers()->Truncate(20);
       }},
      {"add_parts_in_parts",
       [](Whole& a, Whole&, Kept&) {
         NeedTwo(a);
         Part& part = *a.mutable_parts(0);
         part.add_tags(kHuge);
         part.mutable_tags()->erase(part.mutable_tags()->begin());
         part.add_tags(kLong);
         part.mutable_inner()->add_tags(kLong);
       }},
  };
  return rows;
}

const std::vector<Row<Whole>>& MapRows() {
  static const std::vector<Row<Whole>> rows = {
      {"map_set",
       [](Whole& a, Whole&, Kept&) {
         (*a.mutable_words())["k"] = kHuge;
         (*a.mutable_words())[kLong] = "short";
         (*a.mutable_words())[kLong] = kHuge;
         (*a.mutable_text_by_number())[7] = kLong;
         Fill((*a.mutable_part_by_name())[kLong], "by long", Length::kShort);
       }},
      {"map_many",
       [](Whole& a, Whole&, Kept&) {
         for (int i = 0; i < 50; ++i) {
           (*a.mutable_words())[std::to_string(i) + " is the key"] = std::to_string(i) + kLong;
           (*a.mutable_text_by_number())[i] = "a text of a number that is long";
         }
       }},
      {"map_insert",
       [](Whole& a, Whole& b, Kept&) {
         a.mutable_words()->insert({kLong, kHuge});
         a.mutable_words()->insert({std::string("again"), std::string(kHuge)});
         a.mutable_words()->insert(b.words().begin(), b.words().end());
         a.mutable_words()->try_emplace("tried", kLong);
         a.mutable_part_by_name()->insert({"inserted", b.part()});
       }},
      {"map_erase",
       [](Whole& a, Whole&, Kept&) {
         (*a.mutable_words())["to go"] = kHuge;
         a.mutable_words()->erase("to go");
         a.mutable_words()->erase("was never there");
         (*a.mutable_words())["to go"] = kLong;
         Fill((*a.mutable_part_by_name())["to go"], "p", Length::kMiddle);
         a.mutable_part_by_name()->erase(a.mutable_part_by_name()->find("to go"));
       }},
      {"map_erase_all",
       [](Whole& a, Whole&, Kept&) {
         a.mutable_words()->erase(a.mutable_words()->begin(), a.mutable_words()->end());
         a.mutable_text_by_number()->erase(5);
         (*a.mutable_text_by_number())[5] = kHuge;
       }},
      {"map_clear_and_set",
       [](Whole& a, Whole&, Kept&) {
         a.clear_words();
         (*a.mutable_words())["anew"] = kHuge;
         a.mutable_part_by_name()->clear();
         (*a.mutable_part_by_name())["anew"].set_name(kHuge);
       }},
      {"map_swap",
       [](Whole& a, Whole& b, Kept&) {
         a.mutable_words()->swap(*b.mutable_words());
         a.mutable_part_by_name()->swap(*b.mutable_part_by_name());
       }},
      {"map_copy",
       [](Whole& a, Whole& b, Kept&) {
         *a.mutable_words() = b.words();
         const google::protobuf::Map<std::string, Part> copy(b.part_by_name());
         a.mutable_part_by_name()->insert(copy.begin(), copy.end());
       }},
      {"map_move",
       [](Whole& a, Whole& b, Kept&) {
         google::protobuf::Map<std::string, std::string> words(std::move(*b.mutable_words()));
         b.clear_words();
         words["moved"] = kLong;
         *a.mutable_words() = std::move(words);
       }},
      {"map_value_move_out",
       [](Whole& a, Whole&, Kept& kept) {
         std::string& value = (*a.mutable_text_by_number())[5];
         kept.Add(std::move(value));
         value = "after the move";
         std::string& word = (*a.mutable_words())["word"];
         word.swap(*a.mutable_text());
       }},
      {"map_value_append",
       [](Whole& a, Whole&, Kept&) {
         for (auto& [key, value] : *a.mutable_words()) value.append(kLong);
         for (auto& [key, part] : *a.mutable_part_by_name()) {
           part.mutable_name()->append(kLong);
           part.add_tags(key);
         }
         a.mutable_text_by_number()->at((*a.mutable_text_by_number())[5].empty() ? 5 : 5) += "x";
       }},
      {"map_value_part",
       [](Whole& a, Whole& b, Kept& kept) {
         Part& part = (*a.mutable_part_by_name())["p"];
         part.Swap(b.mutable_part());
         part.mutable_inner()->set_name(kHuge);
         kept.Add(part.release_inner());
         (*part.mutable_notes())[kLong] = kHuge;
         part.clear_notes();
       }},
  };
  return rows;
}

}  // namespace harena::pb::codec
