// A small HTTP server: Boost.Beast, with its bounds set.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harena/live/internal/handler.h"

namespace harena::live::internal {

/// An address with its port, as the system has it.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t address_bytes = 0;
  bool loopback = false;
};

/// Looks an address such as "127.0.0.1:9090" up; nullopt and `*problem` when it is none.
std::optional<Endpoint> Resolve(const std::string& address, std::string* problem);

/// So that nobody can occupy a server through its page.
struct HttpBounds {
  size_t connections_max = 64;
  uint32_t header_bytes_max = 16 << 10;
  /// From the end of an answer to the last byte of the next request, however fast its bytes come.
  std::chrono::milliseconds request_max{30'000};
  std::chrono::milliseconds answer_max{30'000};
  /// For what a client still sends after an answer that closes: an early close would have the
  /// system throw away that answer.
  std::chrono::milliseconds linger_max{2'000};
  size_t linger_bytes_max = size_t{1} << 20;
};

/// One thread that answers. It ends, and its connections with it, at the end of this object.
class HttpServer {
 public:
  /// Lifetime rule: `handler` must outlive it.
  HttpServer(const Endpoint& endpoint, Handler& handler, const HttpBounds& bounds = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Why it does not listen; nullopt when it does.
  const std::optional<std::string>& problem() const noexcept { return problem_; }
  /// "127.0.0.1:9090" with the port in use.
  const std::string& address() const noexcept { return address_; }

 private:
  class Running;

  std::optional<std::string> problem_;
  std::string address_;
  std::unique_ptr<Running> running_;
};

}  // namespace harena::live::internal
