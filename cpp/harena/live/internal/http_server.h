// A small HTTP server: Boost.Beast, with its bounds set.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harena/live/internal/endpoint.h"
#include "harena/live/internal/handler.h"
#include "harena/live/internal/http_bounds.h"

namespace harena::live::internal {

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
