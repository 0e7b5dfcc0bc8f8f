// A small HTTP server: libmicrohttpd, with its bounds set.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harena/live/internal/handler.h"

struct MHD_Daemon;

namespace harena::live::internal {

/// Where to listen, as the system has it.
struct Endpoint {
  sockaddr_storage address{};
  bool loopback = false;
};

/// Looks an address such as "127.0.0.1:9090" up; nullopt and `*problem` when it is none.
std::optional<Endpoint> Resolve(const std::string& address, std::string* problem);

/// One thread that answers. It ends, and its connections with it, at the end of this object.
class HttpServer {
 public:
  /// Lifetime rule: `handler` must outlive it.
  HttpServer(const Endpoint& endpoint, Handler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Why it does not listen; nullopt when it does.
  const std::optional<std::string>& problem() const noexcept { return problem_; }
  /// "127.0.0.1:9090" with the port in use.
  const std::string& address() const noexcept { return address_; }

 private:
  MHD_Daemon* daemon_ = nullptr;
  std::optional<std::string> problem_;
  std::string address_;
};

}  // namespace harena::live::internal
