#include "bench/replay/choice.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace harena::bench {
namespace {

using google::protobuf::DescriptorPool;
using testing::HasSubstr;

// Ask has one string, Answer one number; a lite message is in a file of its own.
void Build(DescriptorPool& pool) {
  for (const char* text :
       {R"(name: "a.proto" package: "pkg" syntax: "proto3"
           message_type { name: "Ask" field { name: "text" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL } }
           message_type { name: "Answer" field { name: "size" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL } }
           service { name: "S"
             method { name: "Asked" input_type: ".pkg.Ask" output_type: ".pkg.Answer" }
             method { name: "Echo" input_type: ".pkg.Ask" output_type: ".pkg.Ask" } })",
        R"(name: "lite.proto" package: "pkg" options { optimize_for: LITE_RUNTIME }
           message_type { name: "Lite" })"}) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &file));
    ASSERT_NE(pool.BuildFile(file), nullptr);
  }
}

class Choice : public testing::Test {
 protected:
  void SetUp() override { Build(pool_); }

  std::string WhyNot(const MethodWish& wish, const Capture& capture) {
    try {
      ChooseTypes(wish, capture, pool_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  DescriptorPool pool_;
};

Exchange Asked(const std::string& method, const std::string& text) {
  return {.source = text,
          .method = method,
          .request = "\x0a" + std::string(1, static_cast<char>(text.size())) + text};
}

TEST_F(Choice, TheMostFrequentMethodIsTaken) {
  Capture capture;
  capture.exchanges = {Asked("/pkg.S/Echo", "1"),
                       Asked("/pkg.S/Asked", "2"),
                       Asked("/pkg.S/Asked", "3"),
                       Asked("", "4"),
                       Asked("", "5"),
                       Asked("", "6")};
  const MethodTypes types = ChooseTypes({}, capture, pool_);
  EXPECT_EQ(types.method, "/pkg.S/Asked");
  EXPECT_EQ(types.request->full_name(), "pkg.Ask");
  EXPECT_EQ(types.response->full_name(), "pkg.Answer");
  KeepGoodOnes(types, capture);
  EXPECT_EQ(capture.exchanges.size(), 5u);  // those that name no method are taken to be of it
}

TEST_F(Choice, TypesMayBeNamedInstead) {
  const MethodTypes types = ChooseTypes({.request = "pkg.Ask"}, {}, pool_);
  EXPECT_EQ(types.request->full_name(), "pkg.Ask");
  EXPECT_EQ(types.response, nullptr);
  Capture capture;
  capture.exchanges = {Asked("", "1")};
  capture.exchanges[0].response = "\xff";
  KeepGoodOnes(types, capture);
  EXPECT_EQ(capture.exchanges[0].response, std::nullopt);
}

TEST_F(Choice, WhatIsMissingIsSaidWithWhatToDo) {
  EXPECT_THAT(WhyNot({}, {}), HasSubstr("--service-method"));
  EXPECT_THAT(WhyNot({.method = "/pkg.S/None"}, {}), HasSubstr("/pkg.S/None"));
  EXPECT_THAT(WhyNot({.request = "Ask"}, {}), HasSubstr("package.Message"));
  EXPECT_THAT(WhyNot({.request = "pkg.Lite"}, {}), HasSubstr("LITE_RUNTIME"));
}

TEST_F(Choice, MalformedMessagesAreNamedAndLeftOut) {
  Capture capture;
  capture.exchanges = {Asked("/pkg.S/Asked", "good"), Asked("/pkg.S/Asked", "request"),
                       Asked("/pkg.S/Asked", "response")};
  capture.exchanges[1].request = "\x0a\x7f";
  capture.exchanges[2].response = "\x08";
  KeepGoodOnes(ChooseTypes({}, capture, pool_), capture);
  ASSERT_EQ(capture.exchanges.size(), 1u);
  EXPECT_EQ(capture.exchanges[0].source, "good");
  ASSERT_EQ(capture.problems.size(), 2u);
  EXPECT_EQ(capture.problems[0].source, "request");
  EXPECT_EQ(capture.problems[0].what, "the request is no pkg.Ask");
  EXPECT_EQ(capture.problems[1].what, "the response is no pkg.Answer");
}

TEST_F(Choice, NoGoodMessageIsAnErrorThatSaysWhatToDo) {
  Capture capture;
  capture.exchanges = {Asked("/pkg.S/Asked", "x")};
  capture.exchanges[0].request = "\x0a\x7f";
  const MethodTypes types = ChooseTypes({}, capture, pool_);
  try {
    KeepGoodOnes(types, capture);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("x: the request is no pkg.Ask"));
    EXPECT_THAT(error.what(), HasSubstr("5-byte frame"));
  }
}

TEST_F(Choice, ThinningIsEvenAndLeavesAtLeastOne) {
  Capture capture;
  for (int i = 0; i < 100; ++i) capture.exchanges.push_back(Asked("", std::to_string(i)));
  Thin(capture, 10, 1 << 20);
  ASSERT_EQ(capture.exchanges.size(), 10u);
  EXPECT_EQ(capture.exchanges[0].source, "0");
  EXPECT_EQ(capture.exchanges[9].source, "90");
  Thin(capture, 10, 8);
  EXPECT_EQ(capture.exchanges.size(), 2u);
  Thin(capture, 10, 1);
  EXPECT_EQ(capture.exchanges.size(), 1u);
}

}  // namespace
}  // namespace harena::bench
