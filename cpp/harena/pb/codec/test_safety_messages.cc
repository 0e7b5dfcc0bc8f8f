// Operations on whole messages and on message fields.
#include <string>
#include <utility>

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/field_mask_util.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "harena/pb/codec/test_safety.h"
#include "harena/pb/layout/names.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::TextFormat;

const std::string kLong(300, 'L');
const std::string kHuge(9000, 'H');

bool SameArena(const Whole& a, const Whole& b) { return a.GetArena() == b.GetArena(); }

}  // namespace

const std::vector<Row<Whole>>& WholeMessageRows() {
  static const std::vector<Row<Whole>> rows = {
      {"clear", [](Whole& a, Whole&, Kept&) { a.Clear(); }},
      {"clear_and_fill_longer",
       [](Whole& a, Whole&, Kept&) {
         a.Clear();
         Fill(a, "longer", Length::kLong);
       }},
      {"clear_and_parse_longer",
       [](Whole& a, Whole&, Kept&) {
         Whole source;
         Fill(source, "longer", Length::kLong);
         a.Clear();
         if (!a.ParseFromString(BytesOf(source))) a.Clear();
       }},
      {"parse_other",
       [](Whole& a, Whole& b, Kept&) {
         if (!a.ParseFromString(BytesOf(b))) a.Clear();
       }},
      {"parse_shorter_then_longer",
       [](Whole& a, Whole&, Kept&) {
         Whole source;
         Fill(source, "s", Length::kShort);
         if (!a.ParseFromString(BytesOf(source))) a.Clear();
         source.Clear();
         Fill(source, "l", Length::kLong);
         if (!a.ParseFromString(BytesOf(source))) a.Clear();
       }},
      {"merge_from_string",
       [](Whole& a, Whole& b, Kept&) {
         if (!a.MergeFromString(BytesOf(b))) a.Clear();
       }},
      {"parse_in_chunks",
       [](Whole& a, Whole& b, Kept&) {
         const std::string bytes = BytesOf(b);
         google::protobuf::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()),
                                                      5);
         if (!a.ParseFromZeroCopyStream(&input)) a.Clear();
       }},
      {"parse_broken",
       [](Whole& a, Whole& b, Kept&) {
         const std::string bytes = BytesOf(b);
         for (size_t cut = 1; cut < bytes.size(); cut += 1 + bytes.size() / 20) {
           static_cast<void>(a.ParseFromArray(bytes.data(), static_cast<int>(bytes.size() - cut)));
         }
         a.Clear();
         a.set_text(kLong);
       }},
      {"copy_from", [](Whole& a, Whole& b, Kept&) { a.CopyFrom(b); }},
      {"copy_from_self", [](Whole& a, Whole&, Kept&) { a.CopyFrom(a); }},
      {"assign", [](Whole& a, Whole& b, Kept&) { a = b; }},
      {"merge_from", [](Whole& a, Whole& b, Kept&) { a.MergeFrom(b); }},
      {"merge_from_message",
       [](Whole& a, Whole& b, Kept&) {
         static_cast<google::protobuf::Message&>(a).MergeFrom(
             static_cast<const google::protobuf::Message&>(b));
       }},
      {"merge_both_ways",
       [](Whole& a, Whole& b, Kept&) {
         Whole heap;
         heap.MergeFrom(a);
         heap.MergeFrom(b);
         b.MergeFrom(heap);
       }},
      {"copy_constructed", [](Whole& a, Whole&, Kept& kept) { kept.Add(new Whole(a)); }},
      {"moved_out",
       [](Whole& a, Whole&, Kept& kept) {
         kept.Add(new Whole(std::move(a)));
         a.Clear();
       }},
      {"moved_out_and_back",
       [](Whole& a, Whole&, Kept&) {
         Whole heap(std::move(a));
         heap.mutable_text()->append(kLong);
         heap.add_texts(kHuge);
         a = std::move(heap);
       }},
      {"move_assign",
       [](Whole& a, Whole& b, Kept&) {
         a = std::move(b);
         b.Clear();
       }},
      {"swap", [](Whole& a, Whole& b, Kept&) { a.Swap(&b); }},
      {"swap_self", [](Whole& a, Whole&, Kept&) { a.Swap(&a); }},
      {"std_swap", [](Whole& a, Whole& b, Kept&) { std::swap(a, b); }},
      {"friend_swap", [](Whole& a, Whole& b, Kept&) { swap(a, b); }},
      {"unsafe_arena_swap",
       [](Whole& a, Whole& b, Kept&) { SameArena(a, b) ? a.UnsafeArenaSwap(&b) : a.Swap(&b); }},
      {"swap_with_heap",
       [](Whole& a, Whole&, Kept& kept) {
         auto* heap = new Whole;
         Fill(*heap, "heap", Length::kMiddle);
         heap->Swap(&a);
         kept.Add(heap);
       }},
      {"new",
       [](Whole& a, Whole&, Kept& kept) {
         Whole* made = a.New();
         made->CopyFrom(a);
         kept.Add(made);
       }},
      {"new_on_its_arena",
       [](Whole& a, Whole&, Kept&) {
         Whole* made = a.New(a.GetArena());
         Fill(*made, "made", Length::kMiddle);
         made->MergeFrom(a);
         a.set_text(made->text());
         if (a.GetArena() == nullptr) delete made;
       }},
      {"dynamic_message",
       [](Whole& a, Whole& b, Kept&) {
         google::protobuf::DynamicMessageFactory factory;
         const std::unique_ptr<google::protobuf::Message> dynamic(
             factory.GetPrototype(Whole::descriptor())->New());
         dynamic->CopyFrom(b);
         static_cast<google::protobuf::Message&>(a).MergeFrom(*dynamic);
       }},
      {"part_set",
       [](Whole& a, Whole&, Kept&) {
         a.mutable_part()->set_name(kHuge);
         a.mutable_part()->mutable_inner()->mutable_inner()->set_blob(kLong);
         a.mutable_maybe_part()->mutable_name()->append(kHuge);
       }},
      {"part_copy", [](Whole& a, Whole& b, Kept&) { a.mutable_part()->CopyFrom(b.part()); }},
      {"part_release",
       [](Whole& a, Whole&, Kept& kept) {
         if (a.has_part()) kept.Add(a.release_part());
         a.mutable_part()->set_name(kLong);
       }},
      {"part_release_to_other",
       [](Whole& a, Whole& b, Kept&) {
         if (a.has_part()) b.set_allocated_maybe_part(a.release_part());
       }},
      {"part_set_allocated",
       [](Whole& a, Whole&, Kept&) {
         auto* part = new Part;
         Fill(*part, "given", Length::kMiddle);
         a.set_allocated_part(part);
         a.mutable_part()->mutable_name()->append(kHuge);
       }},
      {"part_set_allocated_from_arena",
       [](Whole& a, Whole&, Kept&) {
         auto* part = a.GetArena() == nullptr ? new Part : CreateOn<Part>(*a.GetArena());
         Fill(*part, "given", Length::kMiddle);
         a.set_allocated_part(part);
         a.mutable_part()->mutable_inner()->set_name(kHuge);
       }},
      {"part_set_allocated_then_parse",
       [](Whole& a, Whole& b, Kept&) {
         // These parts stay on the heap, with the message's arena as their owner.
         const std::string bytes = BytesOf(b);
         a.set_allocated_part(new Part);
         a.mutable_parts()->AddAllocated(new Part);
         if (!a.MergeFromString(bytes) || !a.MergeFromString(bytes)) a.Clear();
         a.mutable_parts()->AddAllocated(new Part);
         a.mutable_parts()->Clear();
         a.set_allocated_choice_part(new Part);
         if (!a.MergeFromString(bytes)) a.Clear();
         a.mutable_maybe_part()->set_allocated_inner(new Part);
         if (!a.MergeFromString(bytes)) a.Clear();
         a.clear_whole();
         a.set_allocated_whole(new Whole);
         Whole outer;
         *outer.mutable_whole() = b;
         if (!a.MergeFromString(BytesOf(outer))) a.Clear();
       }},
      {"part_unsafe_release_and_set",
       [](Whole& a, Whole& b, Kept&) {
         Part* part = a.has_part() ? a.unsafe_arena_release_part() : nullptr;
         if (part == nullptr) return;
         if (SameArena(a, b)) {
           part->set_name(kHuge);
           b.unsafe_arena_set_allocated_part(part);
         } else {
           part->set_name(kHuge);
           b.mutable_part()->CopyFrom(*part);
           if (a.GetArena() == nullptr) delete part;
         }
       }},
      {"part_swap", [](Whole& a, Whole& b, Kept&) { a.mutable_part()->Swap(b.mutable_part()); }},
      {"part_clear",
       [](Whole& a, Whole&, Kept&) {
         a.clear_part();
         a.clear_maybe_part();
         a.mutable_maybe_part()->set_name(kLong);
       }},
      {"nested_whole",
       [](Whole& a, Whole& b, Kept& kept) {
         a.mutable_whole()->mutable_whole()->set_text(kHuge);
         a.mutable_whole()->clear_parts();
         kept.Add(a.release_whole());
         a.mutable_whole()->set_text(b.text());
       }},
      {"unknown_fields",
       [](Whole& a, Whole& b, Kept&) {
         auto* fields = a.GetReflection()->MutableUnknownFields(&a);
         fields->AddLengthDelimited(2000, kHuge);
         fields->AddVarint(2001, 5);
         fields->MergeFrom(b.GetReflection()->GetUnknownFields(b));
         fields->DeleteByNumber(2001);
       }},
      {"discard_unknown_fields", [](Whole& a, Whole&, Kept&) { a.DiscardUnknownFields(); }},
      {"text_format_merge",
       [](Whole& a, Whole&, Kept&) {
         const bool merged = TextFormat::MergeFromString(
             "text: 'merged' texts: 'one' texts: 'two' part { name: 'a name that is rather long' }"
             "words { key: 'k' value: 'a value that is rather long' } choice_blob: '\\377'",
             &a);
         EXPECT_TRUE(merged);
       }},
      {"text_format_round",
       [](Whole& a, Whole& b, Kept&) {
         std::string text;
         b.DiscardUnknownFields();
         const bool printed = TextFormat::PrintToString(b, &text);
         if (!printed || !TextFormat::ParseFromString(text, &a)) a.Clear();
       }},
      {"json_round",
       [](Whole& a, Whole& b, Kept&) {
         b.clear_any();
         b.clear_anys();
         std::string json;
         if (!google::protobuf::util::MessageToJsonString(b, &json).ok()) json = "{}";
         if (!google::protobuf::util::JsonStringToMessage(json, &a).ok()) a.set_text("not ok");
       }},
      {"any_pack",
       [](Whole& a, Whole& b, Kept&) {
         Part part;
         part.set_name(b.text());
         EXPECT_TRUE(a.mutable_any()->PackFrom(part));
         EXPECT_TRUE(a.add_anys()->PackFrom(part, "example.org"));
       }},
      {"any_unpack",
       [](Whole& a, Whole& b, Kept&) {
         Part* part = a.add_parts();
         if (!b.any().UnpackTo(part)) part->Clear();
         part->mutable_name()->append(kLong);
       }},
      {"any_change",
       [](Whole& a, Whole&, Kept& kept) {
         a.mutable_any()->mutable_value()->clear();
         a.mutable_any()->set_type_url("type.googleapis.com/harena.test.safety.Part");
         kept.Add(a.release_any());
       }},
      {"field_mask",
       [](Whole& a, Whole& b, Kept&) {
         google::protobuf::FieldMask mask;
         mask.add_paths("text");
         mask.add_paths("part.name");
         mask.add_paths("texts");
         google::protobuf::util::FieldMaskUtil::MergeMessageTo(b, mask, {}, &a);
         google::protobuf::util::FieldMaskUtil::TrimMessage(mask, &b);
       }},
  };
  return rows;
}

}  // namespace harena::pb::codec
