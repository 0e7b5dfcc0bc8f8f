// A client of sockets and bytes, for tests of the listener.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include <netinet/in.h>

#include "harena/live/test_server.h"

namespace harena::live {

/// A connection to an address such as "127.0.0.1:9090"; file() is negative where there is none.
class TestConnection {
 public:
  explicit TestConnection(const std::string& address)
      : file_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(file_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) Close();
  }
  ~TestConnection() { Close(); }
  TestConnection(TestConnection&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  TestConnection& operator=(TestConnection&&) = delete;

  int file() const { return file_; }

  /// Whether all of it was sent; the other side may have closed before.
  bool Send(const std::string& bytes) const {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = send(file_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }

  /// Says that nothing more is sent.
  void Finish() const { shutdown(file_, SHUT_WR); }

  /// What comes, to the end of the connection.
  std::string Receive() const {
    std::string answer;
    char part[4096];
    for (ssize_t n; (n = recv(file_, part, sizeof part, 0)) > 0;) {
      answer.append(part, static_cast<size_t>(n));
    }
    return answer;
  }

  /// Breaks it off: the other side gets an error instead of an end.
  void Reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(file_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    Close();
  }

  void Close() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

 private:
  int file_;
};

/// What comes back for the bytes, to the end of the connection; empty when it is refused.
inline std::string Talk(const std::string& address, const std::string& bytes) {
  const TestConnection connection(address);
  if (connection.file() < 0) return {};
  connection.Send(bytes);  // the answer may come before the end of the question
  return connection.Receive();
}

inline std::string Request(const std::string& line, const std::string& headers = {},
                           const std::string& body = {}) {
  return line + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + headers +
         (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" +
         body;
}

inline const std::string kAuthorized =
    std::string("Authorization: Bearer ") + kTestToken + "\r\nContent-Type: application/json\r\n";

}  // namespace harena::live
