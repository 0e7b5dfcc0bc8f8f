// Requests that are no message: what the client is told, and that the server lives.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "harena/adapters/grpc/test_rig.h"

namespace harena::grpc {
namespace {

// One unary call in frames of HTTP/2, written by hand: gRPC's clients choose the frames themselves,
// and the server gets each DATA frame as a slice of its own.
class RawCall {
 public:
  explicit RawCall(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~RawCall() { close(socket_); }
  RawCall(const RawCall&) = delete;
  RawCall& operator=(const RawCall&) = delete;

  enum class Answer { kNone, kStatus, kMessage };

  /// What came back when the request was sent in these pieces; kNone when the server hung up.
  Answer Run(const std::vector<std::string>& pieces) {
    std::string out = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0, 0, "");
    out += Frame(kHeaders, kEndHeaders, 1,
                 Header(":method", "POST") + Header(":scheme", "http") + Header(":path", kRun) +
                     Header(":authority", "localhost") + Header("te", "trailers") +
                     Header("content-type", "application/grpc"));
    size_t bytes = 0;
    for (const std::string& piece : pieces) bytes += piece.size();
    out += Frame(kData, 0, 1, std::string(1, '\0') + BigEndian(bytes, 4));
    for (size_t i = 0; i < pieces.size(); ++i) {
      out += Frame(kData, i + 1 == pieces.size() ? kEndStream : 0, 1, pieces[i]);
    }
    EXPECT_EQ(send(socket_, out.data(), out.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(out.size()));
    return Read();
  }

 private:
  enum Type : uint8_t { kData = 0, kHeaders = 1, kSettings = 4 };
  enum Flag : uint8_t { kEndStream = 1, kEndHeaders = 4 };

  static std::string BigEndian(size_t value, int bytes) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
    return out;
  }
  static std::string Frame(Type type, int flags, size_t stream, const std::string& payload) {
    return BigEndian(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
           BigEndian(stream, 4) + payload;
  }
  // A literal that no table keeps.
  static std::string Header(std::string_view name, std::string_view value) {
    std::string out(1, '\0');
    for (const std::string_view text : {name, value}) {
      out += static_cast<char>(text.size());
      out += text;
    }
    return out;
  }

  bool ReadBytes(size_t bytes, std::string& to) {
    to.resize(bytes);
    return bytes == 0 ||
           recv(socket_, to.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }

  Answer Read() {
    Answer answer = Answer::kStatus;
    std::string head;
    std::string payload;
    while (ReadBytes(9, head)) {
      const auto byte = [&](size_t i) {
        return static_cast<size_t>(static_cast<uint8_t>(head[i]));
      };
      if (!ReadBytes(byte(0) << 16 | byte(1) << 8 | byte(2), payload)) break;
      const bool of_call = byte(8) == 1;
      if (of_call && byte(3) == kData && !payload.empty()) answer = Answer::kMessage;
      if (of_call && byte(3) <= kHeaders && (byte(4) & kEndStream) != 0) return answer;
    }
    return Answer::kNone;
  }

  const int socket_;
};

class Malformed : public ModeTest {
 protected:
  RawCall::Answer RunPieces(const std::vector<std::string>& pieces) {
    return RawCall(rig.port()).Run(pieces);
  }

  Rig<> rig;
};
INSTANTIATE_TEST_SUITE_P(Modes, Malformed, ::testing::ValuesIn(kModes), ModeName);

// Tag 0, or the end of a group that never began, at the end of a piece with another one behind it:
// 75 bytes that ended the server.
TEST_P(Malformed, AnEarlyEndBeforeALaterPiece) {
  for (const size_t bytes_max : {kUnlimitedBytes, 64 * kMiB}) {
    if (GetParam() == Mode::kHeap && bytes_max != kUnlimitedBytes) continue;
    rig.Start(Options{.mode = GetParam(), .request_bytes_max = bytes_max});
    uint64_t malformed = 0;
    for (const char end : {'\0', '\x0c'}) {
      const std::string first = "\x12\x1e" + std::string(30, 'a') + std::string(3, end);
      for (size_t cut = 1; cut <= first.size(); ++cut) {
        ASSERT_EQ(RunPieces({first.substr(0, cut), first.substr(cut) + std::string(40, 'b')}),
                  RawCall::Answer::kStatus);
        ++malformed;
      }
      Result result;
      EXPECT_TRUE(rig.Run(MakeTask(), &result).ok());
      EXPECT_EQ(result.number(), 42);
    }
    EXPECT_EQ(rig.stats().malformed, malformed);
    rig.ExpectAllMemoryBack();
    rig.Unwrap();
  }
}

TEST_P(Malformed, HonestRequestsInPieces) {
  rig.Start(GetParam());
  const std::string wire = MakeTask().SerializeAsString();
  for (const size_t slice_bytes : {size_t{1}, size_t{7}, size_t{40}, size_t{1000}}) {
    std::vector<std::string> pieces;
    for (size_t at = 0; at < wire.size(); at += slice_bytes) {
      pieces.push_back(wire.substr(at, slice_bytes));
    }
    EXPECT_EQ(RunPieces(pieces), RawCall::Answer::kMessage) << slice_bytes;
  }
}

}  // namespace
}  // namespace harena::grpc
