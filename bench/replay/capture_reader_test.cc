#include "bench/replay/capture_reader.h"

#include <fstream>
#include <random>
#include <stdexcept>

#include <gmock/gmock.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>

#include "bench/replay/exchange_file.h"
#include "harena/replay/v1/record.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::bench {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
constexpr size_t kUnlimited = SIZE_MAX;

class CaptureReader : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / "harena_capture" / test->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  fs::path folder_;
};

std::string Delimited(const std::string& request, const std::optional<std::string>& response) {
  replay::v1::Record record;
  record.set_method("/pkg.Service/Method");
  record.set_request(request);
  if (response) record.set_response(*response);
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::util::SerializeDelimitedToZeroCopyStream(record, &stream);
  return bytes;
}

Capture Read(const std::string& records) {
  google::protobuf::io::ArrayInputStream input(records.data(), static_cast<int>(records.size()));
  Capture capture;
  ReadRecords(input, "x", capture);
  return capture;
}

TEST_F(CaptureReader, FilesPairByName) {
  Write("a.req.bin", "request a");
  Write("a.resp.bin", "response a");
  Write("b.pb", "request b");
  Write("b.pb.resp.bin", "response b");
  Write("c.req.bin", "request c");
  Write(".hidden", "no");
  fs::create_directory(folder_ / "below");
  const Capture capture = ReadCapture(folder_, kUnlimited);
  EXPECT_TRUE(capture.problems.empty());
  ASSERT_EQ(capture.exchanges.size(), 3u);
  EXPECT_EQ(capture.exchanges[0].request, "request a");
  EXPECT_EQ(capture.exchanges[0].response, "response a");
  EXPECT_EQ(capture.exchanges[1].source, "b.pb");
  EXPECT_EQ(capture.exchanges[1].response, "response b");
  EXPECT_EQ(capture.exchanges[2].response, std::nullopt);
}

TEST_F(CaptureReader, AResponseWithoutItsRequestIsNamed) {
  Write("a.resp.bin", "response");
  const Capture capture = ReadCapture(folder_, kUnlimited);
  EXPECT_TRUE(capture.exchanges.empty());
  ASSERT_EQ(capture.problems.size(), 1u);
  EXPECT_EQ(capture.problems[0].source, "a.resp.bin");
  EXPECT_THAT(capture.problems[0].what, HasSubstr("a.req.bin"));
}

TEST_F(CaptureReader, RecordsAndFilesMix) {
  Write("live.harena-capture", Delimited("one", "two") + Delimited("three", std::nullopt));
  Write("z.bin", "four");
  const Capture capture = ReadCapture(folder_, kUnlimited);
  ASSERT_EQ(capture.exchanges.size(), 3u);
  EXPECT_EQ(capture.exchanges[0].method, "/pkg.Service/Method");
  EXPECT_EQ(capture.exchanges[0].response, "two");
  EXPECT_EQ(capture.exchanges[1].source, "live.harena-capture, record 2");
  EXPECT_EQ(capture.exchanges[1].response, std::nullopt);
  EXPECT_EQ(capture.exchanges[2].method, "");
}

TEST_F(CaptureReader, NothingIsReadBeyondTheLimit) {
  Write("a", std::string(100, 'a'));
  Write("b", std::string(100, 'b'));
  const Capture capture = ReadCapture(folder_, 150);
  EXPECT_EQ(capture.exchanges.size(), 1u);
  ASSERT_EQ(capture.problems.size(), 1u);
  EXPECT_EQ(capture.problems[0].source, "b");
  EXPECT_THAT(capture.problems[0].what, HasSubstr("100 bytes"));
}

TEST_F(CaptureReader, APlaceThatIsNotThereIsAnError) {
  EXPECT_THROW(ReadCapture(folder_ / "nowhere", kUnlimited), std::runtime_error);
}

TEST_F(CaptureReader, AnExchangeFileIsWholeOrRefused) {
  const std::string good = Delimited("one", "two") + Delimited("three", std::nullopt);
  Write("good.harena-capture", good);
  const ExchangeFile file = ReadExchangeFile(folder_ / "good.harena-capture");
  EXPECT_EQ(file.requests, (std::vector<std::string>{"one", "three"}));
  EXPECT_EQ(file.responses[1], std::nullopt);
  Write("cut.harena-capture", good.substr(0, good.size() - 1));
  EXPECT_THROW(ReadExchangeFile(folder_ / "cut.harena-capture"), std::runtime_error);
}

TEST(CaptureRecords, CutAtEveryByteTheWholeOnesStay) {
  const std::string first = Delimited("one", "two"), second = Delimited("three", "four");
  const std::string both = first + second;
  for (size_t size = 0; size <= both.size(); ++size) {
    const Capture capture = Read(both.substr(0, size));
    const bool whole = size == 0 || size == first.size() || size == both.size();
    EXPECT_EQ(capture.exchanges.size(), (size >= first.size()) + (size == both.size())) << size;
    EXPECT_EQ(capture.problems.size(), whole ? 0u : 1u) << size;
  }
}

TEST(CaptureRecords, ALengthBeyondTheFileIsDamage) {
  // 4 GiB - 1 and 2 GiB: neither may be allocated, nor waited for.
  for (const std::string length : {"\xff\xff\xff\xff\x0f", "\x80\x80\x80\x80\x08"}) {
    const Capture capture = Read(Delimited("one", "two") + length + "rest");
    EXPECT_EQ(capture.exchanges.size(), 1u);
    ASSERT_EQ(capture.problems.size(), 1u);
    EXPECT_EQ(capture.problems[0].source, "x, record 2");
  }
}

TEST(CaptureRecords, GarbageIsDamage) {
  const Capture capture = Read(std::string(64, '\xff'));
  EXPECT_TRUE(capture.exchanges.empty());
  EXPECT_EQ(capture.problems.size(), 1u);
}

// A short, repeatable run of the fuzzer's body.
TEST(CaptureRecords, AnythingMayStandInAFile) {
  std::mt19937 random(20261122);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = Delimited(std::string(random() % 40, 'r'), std::string(random() % 40, 's'));
    bytes += Delimited("one", std::nullopt);
    for (int changes = random() % 4; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

}  // namespace
}  // namespace harena::bench
