// Nothing of one request is ever visible to the next: random messages through a kept instance equal
// the same messages parsed afresh.
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/parse/parse.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/shapes2.pb.h"

namespace harena::pb {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::MessageDifferencer;
using harena::test::Shapes;
using harena::test::Shapes2;

// A small stream of numbers that rapidcheck makes and shrinks; zeros when it runs dry.
class Dice {
 public:
  explicit Dice(std::vector<uint16_t> numbers) : numbers_(std::move(numbers)) {}
  uint32_t Roll(uint32_t sides) { return at_ < numbers_.size() ? numbers_[at_++] % sides : 0; }

 private:
  std::vector<uint16_t> numbers_;
  size_t at_ = 0;
};

void Fill(Message& message, Dice& dice, int depth);

std::string SomeText(Dice& dice) {
  return std::string(dice.Roll(60), static_cast<char>('a' + dice.Roll(26)));
}

void FillOne(Message& message, const FieldDescriptor& field, Dice& dice, int depth) {
  const Reflection& reflection = *message.GetReflection();
  const bool add = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return add ? reflection.AddString(&message, &field, SomeText(dice))
                 : reflection.SetString(&message, &field, SomeText(dice));
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value = static_cast<int32_t>(dice.Roll(100)) - 50;
      return add ? reflection.AddInt32(&message, &field, value)
                 : reflection.SetInt32(&message, &field, value);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const int64_t value = int64_t{1} << dice.Roll(40);
      return add ? reflection.AddInt64(&message, &field, value)
                 : reflection.SetInt64(&message, &field, value);
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, dice.Roll(100) / 8.0);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto& type = *field.enum_type();
      return reflection.SetEnum(
          &message, &field,
          type.value(static_cast<int>(dice.Roll(static_cast<uint32_t>(type.value_count())))));
    }
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      if (depth == 0) return;
      Message* child = add ? reflection.AddMessage(&message, &field)
                           : reflection.MutableMessage(&message, &field);
      return Fill(*child, dice, depth - 1);
    }
    default:
      FAIL() << "the schemas have no such field: " << field.full_name();
  }
}

void Fill(Message& message, Dice& dice, int depth) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const uint32_t times = field.is_required() ? 1 : dice.Roll(field.is_repeated() ? 5 : 2);
    for (uint32_t j = 0; j < times; ++j) FillOne(message, field, dice, depth);
  }
  if (dice.Roll(4) == 0) {
    message.GetReflection()->MutableUnknownFields(&message)->AddVarint(1000, dice.Roll(100));
  }
}

template <typename T>
void NothingStaleIsVisible() {
  PagePool pool(TestOptions());
  MessageKeeper keeper(T::default_instance(), T::default_instance(),
                       {.mode = Mode::kReuse, .page_pool = &pool});
  const auto rounds = *rc::gen::inRange(2, 6);
  for (int round = 0; round < rounds; ++round) {
    Dice dice(*rc::gen::container<std::vector<uint16_t>>(rc::gen::arbitrary<uint16_t>()));
    T source;
    Fill(source, dice, 3);
    const std::string wire = source.SerializeAsString();
    T fresh;
    RC_ASSERT(fresh.ParseFromString(wire));

    Scope scope({.page_pool = &pool, .mode = Mode::kReuse});
    const MessageKeeper::Pair pair = keeper.Take(scope);
    auto* kept = static_cast<T*>(pair.request);
    auto* response = static_cast<T*>(pair.response);
    RC_ASSERT(MessageDifferencer::Equals(*response, T::default_instance()));
    RC_ASSERT(static_cast<bool>(Parse(scope, wire, *kept)));
    // Equals() compares presence and oneof cases as well as values.
    RC_ASSERT(MessageDifferencer::Equals(*kept, fresh));
    RC_ASSERT(kept->ByteSizeLong() == fresh.ByteSizeLong());
    *response = fresh;
    RC_ASSERT(MessageDifferencer::Equals(*response, fresh));
    RC_ASSERT(kept->GetReflection()->GetUnknownFields(*kept).field_count() ==
              fresh.GetReflection()->GetUnknownFields(fresh).field_count());
  }
  RC_ASSERT(keeper.stats().instances_built == 1u);
}

RC_GTEST_PROP(MessageKeeperModel, NothingStaleIsVisibleInProto3, ()) {
  NothingStaleIsVisible<Shapes>();
}

RC_GTEST_PROP(MessageKeeperModel, NothingStaleIsVisibleInProto2, ()) {
  NothingStaleIsVisible<Shapes2>();
}

// The accessors that a handler would use, after every kind of field was set and the message
// returned.
TEST(MessageKeeper, AReturnedInstanceLooksNew) {
  PagePool pool(TestOptions());
  MessageKeeper keeper(Shapes::default_instance(), Shapes2::default_instance(),
                       {.mode = Mode::kReuse, .page_pool = &pool});
  {
    Scope scope({.page_pool = &pool});
    const MessageKeeper::Pair pair = keeper.Take(scope);
    auto* shapes = static_cast<Shapes*>(pair.request);
    shapes->set_maybe_number(5);
    shapes->set_maybe_text("text");
    shapes->mutable_leaf()->set_weight(3);
    shapes->set_choice_number(4);
    shapes->set_color(harena::test::COLOR_BLUE);
    (*shapes->mutable_counts())["one"] = 1;
    shapes->add_children()->set_choice_text("child");
    auto* shapes2 = static_cast<Shapes2*>(pair.response);
    shapes2->set_text("other than the default");
    shapes2->set_kind(Shapes2::KIND_B);
    shapes2->add_entry()->set_value(3);
    shapes2->SetExtension(harena::test::note, "note");
  }
  Scope scope({.page_pool = &pool});
  const MessageKeeper::Pair pair = keeper.Take(scope);
  auto* shapes = static_cast<Shapes*>(pair.request);
  EXPECT_FALSE(shapes->has_maybe_number());
  EXPECT_FALSE(shapes->has_maybe_text());
  EXPECT_FALSE(shapes->has_leaf());
  EXPECT_FALSE(shapes->leaf().has_weight());
  EXPECT_FALSE(shapes->mutable_leaf()->has_weight());
  EXPECT_EQ(shapes->choice_case(), Shapes::CHOICE_NOT_SET);
  EXPECT_EQ(shapes->color(), harena::test::COLOR_UNSPECIFIED);
  EXPECT_EQ(shapes->counts_size(), 0);
  EXPECT_EQ(shapes->add_children()->choice_case(), Shapes::CHOICE_NOT_SET);
  auto* shapes2 = static_cast<Shapes2*>(pair.response);
  EXPECT_EQ(shapes2->text(), "none");
  EXPECT_FALSE(shapes2->has_kind());
  EXPECT_FALSE(shapes2->add_entry()->has_value());
  EXPECT_FALSE(shapes2->HasExtension(harena::test::note));
}

}  // namespace
}  // namespace harena::pb
