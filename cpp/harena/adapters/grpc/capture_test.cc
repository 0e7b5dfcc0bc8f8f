#include "harena/adapters/grpc/capture.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "harena/replay/v1/record.pb.h"

namespace harena::grpc {
namespace {

namespace fs = std::filesystem;

bool Equals(const google::protobuf::Message& one, const google::protobuf::Message& other) {
  return google::protobuf::util::MessageDifferencer::Equals(one, other);
}

Result Expected() {
  Result result;
  Answer(MakeTask(), &result);
  return result;
}

class CaptureInterceptorsTest : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("harena_grpc_capture_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Rig<>::Tweak Capturing(pb::Capture& capture, std::set<std::string> methods = {kRun}) {
    return [&capture, methods](::grpc::ServerBuilder& builder) {
      std::vector<std::unique_ptr<::grpc::experimental::ServerInterceptorFactoryInterface>>
          creators;
      creators.push_back(std::make_unique<CaptureInterceptors>(capture, methods));
      builder.experimental().SetInterceptorCreators(std::move(creators));
    };
  }

  // The records of all files.
  std::vector<replay::v1::Record> Written() const {
    std::vector<replay::v1::Record> records;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      google::protobuf::io::IstreamInputStream input(&file);
      bool ended = false;
      for (replay::v1::Record record;
           google::protobuf::util::ParseDelimitedFromZeroCopyStream(&record, &input, &ended);) {
        records.push_back(record);
        record.Clear();
      }
      EXPECT_TRUE(ended);
    }
    return records;
  }

  fs::path folder_;
};

TEST_P(CaptureInterceptorsTest, ACallIsCapturedAsItWasOnTheWire) {
  {
    pb::Capture capture({.directory = folder_, .one_in = 1});
    Rig<> rig;
    rig.Start({.defaults = {.mode = GetParam()}}, Capturing(capture));
    Result result;
    ASSERT_TRUE(rig.Run(MakeTask(), &result).ok());
    EXPECT_TRUE(Equals(result, Expected()));
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 1; }));
    rig.Stop();
  }
  const std::vector<replay::v1::Record> written = Written();
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].method(), kRun);
  EXPECT_GT(written[0].time_unix_ms(), 1'600'000'000'000);
  // Maps come in any order, so the messages are compared and not the bytes.
  Task request;
  Result response;
  ASSERT_TRUE(request.ParseFromString(written[0].request()));
  ASSERT_TRUE(response.ParseFromString(written[0].response()));
  EXPECT_TRUE(Equals(request, MakeTask()));
  EXPECT_TRUE(Equals(response, Expected()));
}

TEST_P(CaptureInterceptorsTest, WhatFailsIsNotCaptured) {
  {
    pb::Capture capture({.directory = folder_, .one_in = 1});
    Rig<> rig;
    rig.service.on_run = [](::grpc::CallbackServerContext*, const Task*, Result*) {
      return FinishNow({::grpc::StatusCode::NOT_FOUND, "not there"});
    };
    rig.Start({.defaults = {.mode = GetParam()}}, Capturing(capture));
    EXPECT_EQ(rig.Run(MakeTask()).error_code(), ::grpc::StatusCode::NOT_FOUND);
    EXPECT_FALSE(rig.RunRaw("\xff\xff").ok());
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_dropped == 2; }));
    EXPECT_EQ(capture.stats().calls_written, 0u);
    rig.Stop();
  }
  EXPECT_TRUE(Written().empty());
}

INSTANTIATE_TEST_SUITE_P(Modes, CaptureInterceptorsTest,
                         testing::Values(Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                         Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_F(CaptureInterceptorsTest, OtherMethodsAndOtherCallsAreNotTouched) {
  pb::Capture capture({.directory = folder_, .one_in = 3});
  Rig<> rig;
  rig.Start({.defaults = {.mode = Mode::kPages}}, Capturing(capture));
  std::string answer;
  EXPECT_TRUE(rig.RunRaw("", &answer, kHold).ok());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(rig.Run(MakeTask()).ok());
  ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 2; }));
  rig.Stop();
}

TEST_F(CaptureInterceptorsTest, APlainServiceIsCapturedToo) {
  pb::Capture capture({.directory = folder_, .one_in = 1});
  Rig<> rig;
  rig.StartPlain(Capturing(capture));
  EXPECT_TRUE(rig.Run(MakeTask()).ok());
  ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 1; }));
  rig.Stop();
}

}  // namespace
}  // namespace harena::grpc
