#include "harena/base/log.h"

#include <string>

#include <gtest/gtest.h>

namespace harena {
namespace {

std::string last_sentence;

void Keep(Severity severity, std::string_view sentence) {
  last_sentence = (severity == Severity::kWarning ? "W " : "I ") + std::string(sentence);
}

TEST(Log, GoesToTheSinkThatWasSet) {
  SetLogSink(&Keep);
  Log(Severity::kInfo, "pool trimmed");
  EXPECT_EQ(last_sentence, "I pool trimmed");
  Log(Severity::kWarning, "limit not held");
  EXPECT_EQ(last_sentence, "W limit not held");
  SetLogSink(nullptr);
}

TEST(Log, WritesToStandardErrorByDefault) {
  testing::internal::CaptureStderr();
  Log(Severity::kWarning, "limit not held");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "harena: warning: limit not held\n");
}

}  // namespace
}  // namespace harena
