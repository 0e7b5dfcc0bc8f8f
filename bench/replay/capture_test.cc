// What pb::Capture writes is what the replay reads.
#include "harena/pb/capture/capture.h"

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/replay/capture_reader.h"
#include "harena/base/log.h"
#include "harena/replay/v1/record.pb.h"

namespace harena::pb {
namespace {

namespace fs = std::filesystem;
using bench::ReadCapture;
using testing::HasSubstr;

class CaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / "harena_captures" / test->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  CaptureOptions Options() const { return {.directory = folder_, .one_in = 1}; }
  bench::Capture Read() const { return ReadCapture(folder_, SIZE_MAX); }
  std::vector<fs::path> Files() const {
    return {fs::directory_iterator(folder_), fs::directory_iterator()};
  }
  // Nobody may wait in Offer(), so a test that wants every call to be taken does.
  static void OfferAndWait(Capture& capture, const CapturedCall& call) {
    const auto handled = [&] {
      const CaptureStats stats = capture.stats();
      return stats.calls_written + stats.calls_dropped;
    };
    const uint64_t before = handled();
    capture.Offer(call);
    while (handled() == before) std::this_thread::yield();
  }

  fs::path folder_;
};

TEST_F(CaptureTest, TheReplayReadsWhatWasWritten) {
  {
    Capture capture(Options());
    OfferAndWait(capture, {"/pkg.Service/Method", std::string("re\0quest", 8), "response", 1234});
    OfferAndWait(capture, {.method = "/pkg.Service/Method", .request = std::string(300, 'x')});
    EXPECT_EQ(capture.stats().calls_written, 2u);
    EXPECT_EQ(capture.stats().calls_dropped, 0u);
  }
  const bench::Capture read = Read();
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.exchanges.size(), 2u);
  EXPECT_EQ(read.exchanges[0].method, "/pkg.Service/Method");
  EXPECT_EQ(read.exchanges[0].request, std::string("re\0quest", 8));
  EXPECT_EQ(read.exchanges[0].response, "response");
  EXPECT_EQ(read.exchanges[1].request.size(), 300u);
  EXPECT_EQ(read.exchanges[1].response, std::nullopt);
}

TEST_F(CaptureTest, ARecordIsTheMessageOfTheSchema) {
  const std::string bytes = CaptureRecord({"/m", "request", "response", 1234});
  replay::v1::Record record;
  ASSERT_TRUE(record.ParseFromString(bytes.substr(1)));
  EXPECT_EQ(bytes.size(), 1 + record.ByteSizeLong());
  EXPECT_EQ(record.time_unix_ms(), 1234);
  EXPECT_EQ(record.response(), "response");
  EXPECT_TRUE(record.GetReflection()->GetUnknownFields(record).empty());
}

// The Go module's test has the same calls and the same file.
TEST_F(CaptureTest, BothLanguagesWriteTheSameFile) {
  const CapturedCall calls[] = {
      {"/pkg.Service/Method", std::string("re\0quest", 8), "response", 1'700'000'000'123},
      {"/pkg.Service/Method", std::string(300, 'x'), std::nullopt, 1},
      {"/pkg.Sérvice/Method", "", "", 0},
  };
  const fs::path file = fs::path(HARENA_TESTDATA) / "captures" / "written.harena-capture";
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  std::string written;
  for (const CapturedCall& call : calls) written += CaptureRecord(call);
  EXPECT_EQ(written, bytes);

  const bench::Capture read = ReadCapture(file, SIZE_MAX);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.exchanges.size(), std::size(calls));
  for (size_t i = 0; i < std::size(calls); ++i) {
    EXPECT_EQ(read.exchanges[i].method, calls[i].method);
    EXPECT_EQ(read.exchanges[i].request, calls[i].request);
    EXPECT_EQ(read.exchanges[i].response, calls[i].response);
  }
}

TEST_F(CaptureTest, FilesAreTheOwnersAlone) {
  { OfferAndWait(*std::make_unique<Capture>(Options()), {.request = "x"}); }
  ASSERT_EQ(Files().size(), 1u);
  struct stat found = {};
  ASSERT_EQ(stat(Files()[0].c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(CaptureTest, SeveralWriteToOneDirectory) {
  std::vector<std::unique_ptr<Capture>> captures;
  for (int i = 0; i < 20; ++i) captures.push_back(std::make_unique<Capture>(Options()));
  for (const auto& capture : captures) OfferAndWait(*capture, {.request = "call"});
  for (const auto& capture : captures) EXPECT_EQ(capture->stats().calls_written, 1u);
  captures.clear();
  EXPECT_EQ(Files().size(), 20u);
}

TEST_F(CaptureTest, OneInNIsWanted) {
  CaptureOptions options = Options();
  options.one_in = 10;
  Capture capture(options);
  int wanted = 0;
  for (int i = 0; i < 1000; ++i) wanted += capture.Wants();
  EXPECT_EQ(wanted, 100);
}

TEST_F(CaptureTest, SizesAreBounded) {
  CaptureOptions options = Options();
  options.call_bytes_max = 100;
  options.file_bytes_max = 250;
  options.bytes_max = 500;
  static std::atomic<int> said{0};
  SetLogSink([](Severity, std::string_view sentence) {
    said += sentence.find("has ended: bytes_max is 500") != sentence.npos;
  });
  {
    Capture capture(options);
    OfferAndWait(capture, {.request = std::string(60, 'a'), .response = std::string(60, 'b')});
    EXPECT_EQ(capture.stats().calls_dropped, 1u);
    EXPECT_FALSE(capture.stats().ended);
    for (int i = 0; i < 9; ++i) OfferAndWait(capture, {.request = std::string(90, 'c')});
    const uint64_t written = capture.stats().calls_written;
    OfferAndWait(capture, {.request = "c"});  // has room, but capturing has ended
    EXPECT_EQ(capture.stats().calls_written, written);
    EXPECT_TRUE(capture.stats().ended);
    const CaptureStats stats = capture.stats();
    EXPECT_EQ(stats.calls_written + stats.calls_dropped, 11u);
    EXPECT_LE(stats.bytes_written, 500u);
    EXPECT_GT(stats.calls_written, 3u);
  }
  SetLogSink(nullptr);
  EXPECT_EQ(said, 1);
  size_t bytes = 0;
  for (const fs::path& file : Files()) {
    EXPECT_LE(file_size(file), 250u);
    bytes += file_size(file);
  }
  EXPECT_GT(Files().size(), 1u);
  EXPECT_LE(bytes, 500u);
  EXPECT_TRUE(Read().problems.empty());
}

TEST_F(CaptureTest, AFullQueueDropsAndCounts) {
  CaptureOptions options = Options();
  options.queue_bytes_max = 10;
  Capture capture(options);
  capture.Offer({.request = std::string(50, 'x')});
  EXPECT_EQ(capture.stats().calls_dropped, 1u);
}

TEST_F(CaptureTest, ThreadsLoseNothingUncounted) {
  constexpr int kThreads = 4, kCalls = 500;
  CaptureStats stats;
  {
    Capture capture(Options());
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kCalls; ++i) capture.Offer({.request = "call"});
      });
    }
    for (std::thread& thread : threads) thread.join();
    stats = capture.stats();
  }
  const bench::Capture read = Read();
  EXPECT_TRUE(read.problems.empty());
  EXPECT_GT(read.exchanges.size(), 0u);
  EXPECT_EQ(read.exchanges.size() + stats.calls_dropped, size_t{kThreads} * kCalls);
}

TEST_F(CaptureTest, WhatIsWrongIsSaid) {
  EXPECT_THAT(*CaptureOptions{.directory = "/no/such/place"}.Validate(),
              HasSubstr("/no/such/place"));
  CaptureOptions options = Options();
  options.one_in = 0;
  EXPECT_THAT(*options.Validate(), HasSubstr("one_in"));
  EXPECT_DEATH(Capture{options}, "one_in");
}

}  // namespace
}  // namespace harena::pb
