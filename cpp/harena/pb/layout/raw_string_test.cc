#include "harena/pb/layout/raw_string.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harena/pb/arena/message_arena.h"
#include "harena/pb/codec/registered.h"

namespace harena::pb::layout {
namespace {

std::string TextOf(size_t length) {
  std::string text(length, '\0');
  for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

// Exactly the bytes that an image needs, so that AddressSanitizer sees one more.
struct Space {
  explicit Space(size_t length) : words((RawString::BytesFor(length) + 7) / 8) {}
  void* place() { return words.data(); }
  const std::string& string() { return *reinterpret_cast<const std::string*>(words.data()); }
  std::vector<uint64_t> words;
};

TEST(RawString, WorkUnlessTheEnvironmentSaysOff) {
  // As ctest sets it for a second run of this program, in which the codec does nothing.
  const bool off = std::getenv("HARENA_STRING_IMAGES") != nullptr;
  EXPECT_EQ(RawStringsWork(), HARENA_CODEC != 0 && !off);
  const CapabilityReport report = Capabilities();
  EXPECT_EQ(report.arena_strings, RawStringsWork());
  EXPECT_EQ(report.codec, HARENA_CODEC != 0 && !off);
  EXPECT_EQ(report.serializer, HARENA_SERIALIZER != 0 && (HARENA_CODEC == 0 || !off));
  Scope scope({.mode = Mode::kCodec});
  EXPECT_EQ(MessageArena::Of(scope).codec(), report.serializer);
}

TEST(RawString, ReadsAsTheString) {
  for (size_t length = 0; length < 200; ++length) {
    const std::string text = TextOf(length);
    Space space(length);
    EXPECT_TRUE(RawString::Write(space.place(), text.data(), text.size()));
    const std::string& string = space.string();
    ASSERT_EQ(string, text);
    ASSERT_EQ(string.size(), length);
    ASSERT_EQ(string.c_str()[length], '\0');
    ASSERT_GE(string.capacity(), length);
    ASSERT_EQ(string.empty(), length == 0);
    const std::string copy(string);
    ASSERT_EQ(copy, text);
    ASSERT_NE(copy.data(), string.data());
    ASSERT_EQ(std::string(std::move(string)), text);  // of a const: a copy
    ASSERT_EQ(std::hash<std::string>()(string), std::hash<std::string>()(text));
  }
}

TEST(RawString, TellsWhetherTheTextIsAscii) {
  for (size_t length = 1; length < 70; ++length) {
    for (size_t at = 0; at < length; ++at) {
      std::string text = TextOf(length);
      text[at] = static_cast<char>(0x80);
      Space space(length);
      ASSERT_FALSE(RawString::Write(space.place(), text.data(), length)) << length << " " << at;
      ASSERT_EQ(space.string(), text);
    }
  }
}

TEST(RawString, KeepsBytesOfAnyValue) {
  std::string text;
  for (int i = 0; i < 256; ++i) text.push_back(static_cast<char>(i));
  Space space(text.size());
  EXPECT_FALSE(RawString::Write(space.place(), text.data(), text.size()));
  EXPECT_EQ(space.string(), text);
}

TEST(RawString, ContentMayStandApart) {
  const std::string text = TextOf(100);
  char content[101];
  Space head(0);
  RawString::WriteApart(head.place(), content, text.data(), text.size());
  EXPECT_EQ(head.string(), text);
  EXPECT_EQ(head.string().data(), content);
  // A short one does not use it.
  RawString::WriteApart(head.place(), nullptr, text.data(), RawString::kLocalMax);
  EXPECT_EQ(head.string(), text.substr(0, RawString::kLocalMax));
}

TEST(RawString, IsSharedAndDefused) {
  for (const size_t length : {size_t{0}, size_t{15}, size_t{16}, size_t{300}}) {
    const std::string text = TextOf(length);
    Space one(length);
    RawString::Write(one.place(), text.data(), text.size());
    // As a map's value: an ordinary string becomes an image, and an ordinary one again.
    auto value = std::make_unique<std::string>();
    RawString::Share(value.get(), one.string());
    EXPECT_EQ(*value, text);
    EXPECT_EQ(value->data() == one.string().data(), length > RawString::kLocalMax);
    RawString::Defuse(value.get());
    EXPECT_TRUE(value->empty());
    value->append(500, 'x');
    value.reset();
    EXPECT_EQ(one.string(), text);
  }
}

}  // namespace
}  // namespace harena::pb::layout
