// Requests that end before their bytes do, cut into pieces where it hurts, sent to a real server.
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <brpc/errno.pb.h>
#include <brpc/policy/baidu_rpc_meta.pb.h>
#include <butil/endpoint.h>
#include <butil/fd_guard.h>
#include <butil/logging.h>
#include <butil/sys_byteorder.h>
#include <gmock/gmock.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/pb/wire/test_wire.h"

namespace harena::brpc {
namespace {

using pb::test::EndsEarly;
using ::testing::HasSubstr;

std::string BigEndian(size_t value) {
  const uint32_t bytes = butil::HostToNet32(static_cast<uint32_t>(value));
  return {reinterpret_cast<const char*>(&bytes), sizeof(bytes)};
}

uint32_t Number(std::string_view big_endian) {
  uint32_t value = 0;
  for (const char byte : big_endian) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

// Bytes on a socket.
class RawClient {
 public:
  explicit RawClient(const ::brpc::Server& server)
      : socket_(butil::tcp_connect(server.listen_address(), nullptr)) {
    EXPECT_GE(socket_, 0);
  }

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0) << "the server has closed the connection";
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  // Empty once the connection has ended.
  std::string Read(size_t count) {
    std::string bytes(count, '\0');
    const ssize_t got = recv(socket_, bytes.data(), count, MSG_WAITALL);
    if (got != static_cast<ssize_t>(count)) bytes.clear();
    return bytes;
  }

 private:
  butil::fd_guard socket_;
};

// brpc goes on after such a line, unless told to stop by -crash_on_fatal_log.
class FatalLog : public logging::LogSink {
 public:
  FatalLog() : before_(logging::SetLogSink(this)) {}
  ~FatalLog() override { logging::SetLogSink(before_); }

  bool OnLogMessage(int severity, const char* /*file*/, int /*line*/,
                    const butil::StringPiece& content) override {
    if (severity == logging::BLOG_FATAL && lines_++ == 0) first_ = content.as_string();
    return severity == logging::BLOG_FATAL;
  }

  int lines() const { return lines_; }
  const std::string& first() const { return first_; }

 private:
  logging::LogSink* const before_;
  std::atomic<int> lines_ = 0;
  std::string first_;
};

struct Served {
  Mode mode;
  size_t request_bytes_max = kUnlimitedBytes;
};

class EndsEarlyTest : public ::testing::TestWithParam<Served> {
 protected:
  void SetUp() override {
    rig_.service.on_run = [this](Controller*, const Task* task, Result* result, Closure* done) {
      ++handled_;
      Answer(*task, result);
      done->Run();
    };
    rig_.Start(Options{.mode = GetParam().mode, .request_bytes_max = GetParam().request_bytes_max});
  }
  void TearDown() override {
    EXPECT_EQ(handled_, 0) << "requests that are none reached the handler";
    Result result;
    EXPECT_EQ(rig_.Run(MakeTask(), &result), 0);
    EXPECT_EQ(result.number(), 42);
    EXPECT_EQ(fatal_.lines(), 0) << fatal_.first();
    rig_.ExpectAllMemoryBack();
  }

  Rig rig_;
  FatalLog fatal_;
  std::atomic<int> handled_ = 0;
};
INSTANTIATE_TEST_SUITE_P(
    Modes, EndsEarlyTest,
    ::testing::Values(Served{Mode::kHeap}, Served{Mode::kArena}, Served{Mode::kPages},
                      Served{Mode::kReuse}, Served{Mode::kCodec}, Served{Mode::kArena, 64 * kMiB},
                      Served{Mode::kPages, 64 * kMiB}, Served{Mode::kCodec, 64 * kMiB}),
    [](const auto& info) {
      const char* limited = info.param.request_bytes_max == kUnlimitedBytes ? "" : "_limited";
      return std::string(ToString(info.param.mode)) + limited;
    });

// brpc reads into blocks of 8 KiB. Frames whose bytes divide that by no whole number put the end of
// a block at each place of a body.
TEST_P(EndsEarlyTest, WhereverABlockOfBaiduStdEnds) {
  constexpr size_t kFrames = 64;
  constexpr size_t kFrameBytes = 509;
  constexpr int kBatches = 8192 / kFrames;
  for (const char end : {'\0', '\x0c'}) {
    const auto [before, behind] = EndsEarly(end);
    const std::string body = before + behind;
    ::brpc::policy::RpcMeta meta;
    meta.mutable_request()->set_service_name("harena.test.brpc.Work");
    meta.mutable_request()->set_method_name("Run");
    meta.set_correlation_id(1);
    std::string* const padding = meta.mutable_request()->mutable_request_id();
    while (12 + meta.ByteSizeLong() + body.size() < kFrameBytes) padding->push_back('p');
    const std::string head = meta.SerializeAsString();
    const std::string frame =
        "PRPC" + BigEndian(head.size() + body.size()) + BigEndian(head.size()) + head + body;
    const std::string frames = pb::test::Repeat(frame, kFrames);
    RawClient client(rig_.server());
    for (int batch = 0; batch < kBatches; ++batch) {
      client.Send(frames);
      for (size_t i = 0; i < kFrames; ++i) {
        const std::string start = client.Read(12);
        ASSERT_EQ(start.substr(0, 4), "PRPC");
        const std::string answer = client.Read(Number({start.data() + 4, 4}));
        ::brpc::policy::RpcMeta answer_meta;
        ASSERT_TRUE(answer_meta.ParseFromString(answer.substr(0, Number({start.data() + 8, 4}))));
        ASSERT_EQ(answer_meta.response().error_code(), ::brpc::EREQUEST);
      }
    }
    EXPECT_EQ(handled_, 0);
  }
}

// Each DATA frame is a piece of its own.
TEST_P(EndsEarlyTest, BetweenTwoDataFramesOfGrpc) {
  constexpr uint8_t kData = 0, kHeaders = 1, kSettings = 4;
  constexpr uint8_t kEndOfStream = 1, kEndOfHeaders = 4;
  const auto frame = [](uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
    return BigEndian(payload.size()).substr(1) + static_cast<char>(type) +
           static_cast<char>(flags) + BigEndian(stream) + payload;
  };
  const auto header = [](const std::string& name, const std::string& value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + name +
           static_cast<char>(value.size()) + value;
  };
  const std::string headers = header(":method", "POST") + header(":scheme", "http") +
                              header(":path", "/harena.test.brpc.Work/Run") +
                              header("content-type", "application/grpc");
  for (const char end : {'\0', '\x0c'}) {
    const auto [before, behind] = EndsEarly(end);
    const std::string prefix = std::string(1, '\0') + BigEndian(before.size() + behind.size());
    RawClient client(rig_.server());
    client.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, ""));
    client.Send(frame(kHeaders, kEndOfHeaders, 1, headers) + frame(kData, 0, 1, prefix + before) +
                frame(kData, kEndOfStream, 1, behind));
    for (std::string start, payload;; payload.clear()) {
      start = client.Read(9);
      ASSERT_FALSE(start.empty()) << "no answer";
      if (const size_t bytes = Number({start.data(), 3})) payload = client.Read(bytes);
      if (start[3] != kHeaders || (start[4] & kEndOfStream) == 0) continue;
      EXPECT_THAT(payload, HasSubstr(std::string("grpc-status\x01") + "3"));  // INVALID_ARGUMENT
      break;
    }
  }
}

}  // namespace
}  // namespace harena::brpc
