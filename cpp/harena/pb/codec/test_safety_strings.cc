// Operations on strings and bytes that stand alone, and on oneofs.
#include <string>
#include <utility>

#include "harena/pb/codec/test_safety.h"
#include "harena/pb/layout/family.h"

namespace harena::pb::codec {
namespace {

const std::string kShort = "short";
const std::string kLong(300, 'L');
const std::string kHuge(9000, 'H');

// A string that has moved somewhere is unspecified until it is set again.
void Reset(std::string* string) { string->assign("after the move"); }

}  // namespace

const std::vector<Row<Whole>>& StringRows() {
  static const std::vector<Row<Whole>> rows = {
      {"set_short", [](Whole& a, Whole&, Kept&) { a.set_text(kShort); }},
      {"set_long", [](Whole& a, Whole&, Kept&) { a.set_text(kLong); }},
      {"set_huge", [](Whole& a, Whole&, Kept&) { a.set_text(kHuge); }},
      {"set_empty", [](Whole& a, Whole&, Kept&) { a.set_text(""); }},
      {"set_moved", [](Whole& a, Whole&, Kept&) { a.set_text(std::string(kLong)); }},
      {"set_moved_short", [](Whole& a, Whole&, Kept&) { a.set_text(std::string(kShort)); }},
      {"set_chars", [](Whole& a, Whole&, Kept&) { a.set_text(kLong.c_str()); }},
      {"set_chars_and_size",
       [](Whole& a, Whole&, Kept&) { a.set_text(kHuge.data(), kHuge.size() - 1); }},
      {"set_own", [](Whole& a, Whole&, Kept&) { a.set_text(a.text()); }},
      {"set_part_of_own",
       [](Whole& a, Whole&, Kept&) { a.set_text(a.text().data(), a.text().size() / 2); }},
      {"set_from_other", [](Whole& a, Whole& b, Kept&) { a.set_text(b.text()); }},
      {"set_moved_from_other",
       [](Whole& a, Whole& b, Kept&) {
         a.set_text(std::move(*b.mutable_text()));
         Reset(b.mutable_text());
       }},
      {"set_after_clear",
       [](Whole& a, Whole&, Kept&) {
         a.clear_text();
         a.set_text(kLong);
         a.clear_text();
         a.set_text(kHuge);
       }},
      {"set_maybe",
       [](Whole& a, Whole&, Kept&) {
         a.set_maybe_text(kHuge);
         a.set_maybe_text(std::string(kShort));
       }},
      {"set_blob",
       [](Whole& a, Whole&, Kept&) {
         a.set_blob(kLong.data(), kLong.size());
         a.set_maybe_blob(static_cast<const void*>(kHuge.data()), kHuge.size());
       }},
      {"set_blob_moved", [](Whole& a, Whole&, Kept&) { a.set_blob(std::string(kHuge)); }},
      {"append", [](Whole& a, Whole&, Kept&) { a.mutable_text()->append(kHuge); }},
      {"append_to_new",
       [](Whole& a, Whole&, Kept&) {
         a.clear_text();
         a.mutable_text()->append(kLong);
         a.clear_maybe_blob();
         a.mutable_maybe_blob()->append(kHuge);
       }},
      {"assign", [](Whole& a, Whole&, Kept&) { *a.mutable_text() = kHuge; }},
      {"assign_moved", [](Whole& a, Whole&, Kept&) { *a.mutable_text() = std::string(kHuge); }},
      {"swap_out",
       [](Whole& a, Whole&, Kept& kept) {
         std::string mine = kLong;
         a.mutable_text()->swap(mine);
         kept.Add(std::move(mine));
       }},
      {"move_out",
       [](Whole& a, Whole&, Kept& kept) {
         kept.Add(std::move(*a.mutable_text()));
         Reset(a.mutable_text());
         kept.Add(std::move(*a.mutable_maybe_blob()));
         Reset(a.mutable_maybe_blob());
       }},
      {"swap_strings",
       [](Whole& a, Whole& b, Kept&) { a.mutable_text()->swap(*b.mutable_text()); }},
      {"swap_with_element",
       [](Whole& a, Whole& b, Kept&) { std::swap(*a.mutable_text(), *b.add_texts()); }},
      {"shrink",
       [](Whole& a, Whole&, Kept&) {
         a.mutable_text()->resize(3);
         a.mutable_text()->shrink_to_fit();
         a.mutable_blob()->reserve(8000);
       }},
      {"clear", [](Whole& a, Whole&, Kept&) { a.clear_text(); }},
      {"clear_maybe",
       [](Whole& a, Whole&, Kept&) {
         a.clear_maybe_text();
         a.clear_maybe_blob();
       }},
      {"release",
       [](Whole& a, Whole&, Kept& kept) {
         kept.Add(a.release_text());
         kept.Add(a.release_blob());
       }},
      {"release_maybe_and_set",
       [](Whole& a, Whole&, Kept& kept) {
         if (a.has_maybe_text()) kept.Add(a.release_maybe_text());
         a.set_maybe_text(kHuge);
       }},
      {"release_to_other",
       [](Whole& a, Whole& b, Kept&) { b.set_allocated_text(a.release_text()); }},
      {"set_allocated",
       [](Whole& a, Whole&, Kept&) {
         a.set_allocated_text(new std::string(kHuge));
         a.set_allocated_maybe_text(new std::string(kShort));
         a.mutable_text()->append(kLong);
       }},
      {"set_allocated_null",
       [](Whole& a, Whole&, Kept&) {
         a.set_allocated_maybe_text(nullptr);
         a.set_allocated_text(nullptr);
       }},
      {"set_allocated_twice",
       [](Whole& a, Whole&, Kept& kept) {
         a.set_allocated_blob(new std::string(kLong));
         kept.Add(a.release_blob());
         a.set_allocated_blob(new std::string(kHuge));
       }},
      {"oneof_release",
       [](Whole& a, Whole&, Kept& kept) {
         if (a.has_choice_text()) kept.Add(a.release_choice_text());
       }},
      {"oneof_set_allocated",
       [](Whole& a, Whole&, Kept&) { a.set_allocated_choice_text(new std::string(kHuge)); }},
      {"oneof_switch",
       [](Whole& a, Whole&, Kept&) {
         a.set_choice_text(kLong);
         a.set_choice_number(5);
         a.set_choice_text(kHuge);
         a.mutable_choice_part()->set_name(kHuge);
         a.set_choice_blob(std::string(kLong));
         a.mutable_choice_part()->add_tags(kLong);
         a.mutable_choice_text()->append(kHuge);
       }},
      {"oneof_to_message",
       [](Whole& a, Whole&, Kept&) { Fill(*a.mutable_choice_part(), "p", Length::kMiddle); }},
      {"oneof_release_message",
       [](Whole& a, Whole&, Kept& kept) {
         a.mutable_choice_part()->set_name(kHuge);
         kept.Add(a.release_choice_part());
         a.set_choice_blob(kLong);
       }},
      {"oneof_clear",
       [](Whole& a, Whole&, Kept&) {
         a.clear_choice();
         a.set_choice_text(kLong);
         a.clear_choice_text();
       }},
      {"oneof_move_out",
       [](Whole& a, Whole&, Kept& kept) {
         kept.Add(std::move(*a.mutable_choice_text()));
         Reset(a.mutable_choice_text());
       }},
  };
  return rows;
}

const std::vector<Row<Whole2>>& Proto2Rows() {
  namespace safety = harena::test::safety;
  static const std::vector<Row<Whole2>> rows = {
      {"set_defaults",
       [](Whole2& a, Whole2&, Kept&) {
         a.set_text_or(kHuge);
         a.set_short_or(std::string(kLong));
         a.set_blob_or(kLong.data(), kLong.size());
       }},
      {"clear_defaults",
       [](Whole2& a, Whole2&, Kept&) {
         a.clear_text_or();
         a.clear_short_or();
         a.clear_blob_or();
       }},
      {"mutable_of_default",
       [](Whole2& a, Whole2&, Kept&) {
         a.clear_text_or();
         a.mutable_text_or()->append(" and more");
         a.clear_short_or();
         a.mutable_short_or()->append(kLong);
         a.clear_blob_or();
         a.mutable_blob_or()->push_back('x');
       }},
      {"release_defaults",
       [](Whole2& a, Whole2&, Kept& kept) {
         if (a.has_text_or()) kept.Add(a.release_text_or());
         if (a.has_short_or()) kept.Add(a.release_short_or());
         a.set_text_or(kLong);
       }},
      {"set_allocated_defaults",
       [](Whole2& a, Whole2&, Kept&) {
         a.set_allocated_text_or(new std::string(kHuge));
         a.set_allocated_short_or(nullptr);
         a.mutable_text_or()->append("x");
       }},
      {"set_from_default",
       [](Whole2& a, Whole2& b, Kept&) {
         b.clear_text_or();
         a.set_text_or(b.text_or());
         a.set_text(std::move(*b.mutable_text_or()));
         b.set_text_or(kShort);
       }},
      {"group",
       [](Whole2& a, Whole2&, Kept& kept) {
         a.mutable_note()->mutable_note_text()->append(kHuge);
         kept.Add(a.release_note());
         a.mutable_note()->set_note_text(kLong);
       }},
      {"groups",
       [](Whole2& a, Whole2&, Kept& kept) {
         a.add_line()->set_line_text(kHuge);
         kept.Add(a.mutable_line()->ReleaseLast());
         a.mutable_line()->Clear();
         a.add_line()->set_line_text(kHuge);
       }},
      {"oneof_default",
       [](Whole2& a, Whole2&, Kept& kept) {
         a.clear_choice();
         a.mutable_choice_text()->append(kLong);
         kept.Add(a.release_choice_text());
         a.mutable_choice_whole()->set_short_or(kHuge);
         a.mutable_choice_text()->assign(kHuge);
       }},
      {"extensions",
       [](Whole2& a, Whole2& b, Kept& kept) {
         a.SetExtension(safety::remark, kHuge);
         a.MutableExtension(safety::remark)->append(kLong);
#if !HARENA_PARSES_BY_TABLE  // which ends the process where a parsed one meets one that was added
         a.AddExtension(safety::remarks, kLong);
#endif
         a.MutableExtension(safety::more)->set_text_or(kHuge);
         kept.Add(a.ReleaseExtension(safety::more));
         a.MutableExtension(safety::more)->CopyFrom(b);
         a.MutableExtension(safety::more)->ClearExtension(safety::more);
         a.ClearExtension(safety::remark);
       }},
      {"heap_groups_then_parse",
       [](Whole2& a, Whole2& b, Kept&) {
         const std::string bytes = BytesOf(b);
         a.set_allocated_note(new Whole2::Note);
         a.mutable_line()->AddAllocated(new Whole2::Line);
         a.set_allocated_whole(new Whole2);
         a.SetAllocatedExtension(safety::more, new Whole2);
         if (!a.MergeFromString(bytes) || !a.MergeFromString(bytes)) a.Clear();
         a.mutable_line()->AddAllocated(new Whole2::Line);
         a.clear_line();
         if (!a.MergeFromString(bytes)) a.Clear();
       }},
      {"enum_map",
       [](Whole2& a, Whole2&, Kept&) {
         (*a.mutable_kinds())[kHuge] = Whole2::KIND_ONE;
         a.mutable_kinds()->erase(kHuge);
         (*a.mutable_kinds())[kLong] = Whole2::KIND_TWO;
         (*a.mutable_blob_by_name())[kLong] = kHuge;
       }},
      {"clear_whole", [](Whole2& a, Whole2&, Kept&) { a.Clear(); }},
      {"merge", [](Whole2& a, Whole2& b, Kept&) { a.MergeFrom(b); }},
      {"copy", [](Whole2& a, Whole2& b, Kept&) { a.CopyFrom(b); }},
      {"swap", [](Whole2& a, Whole2& b, Kept&) { a.Swap(&b); }},
      {"move_and_clear",
       [](Whole2& a, Whole2& b, Kept&) {
         a = std::move(b);
         b.Clear();
       }},
      {"reparse",
       [](Whole2& a, Whole2& b, Kept&) {
         const std::string bytes = BytesOf(b);
         if (!a.ParseFromString(bytes) || !a.MergeFromString(bytes)) a.Clear();
       }},
  };
  return rows;
}

}  // namespace harena::pb::codec
