// What is answered to what. Knows nothing of sockets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harena/live/internal/change_log.h"
#include "harena/live/internal/guard.h"
#include "harena/live/internal/status.h"

namespace harena::live::internal {

inline constexpr size_t kBufferBytesMax = size_t{64} << 10;

struct HttpRequest {
  std::string_view method;  ///< "GET"; HEAD is asked as GET.
  std::string_view path;
  std::string_view after_ms;  ///< The query's; empty when it has none.
  std::string_view body;
  bool body_too_large = false;
  Caller caller;
};

struct HttpAnswer {
  unsigned status = 200;
  std::string_view content_type = "application/json";
  std::string body = {};
  std::string_view page = {};      ///< In place of body: lives for ever.
  std::string_view location = {};  ///< Of a redirection.
  std::string_view allow = {};     ///< Of methods, where the asked one is not allowed.
};

/// An answer that is no success: {"error": reason}.
HttpAnswer Refuse(unsigned status, std::string reason);

/// A header of every answer: what a browser may do with it, which is to show this server's own
/// files and nothing else.
struct HttpHeader {
  const char* name;
  const char* value;
};
inline constexpr HttpHeader kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

/// Thread rule: any thread; Tick() is called by one.
class Handler {
 public:
  explicit Handler(Guard guard) : guard_(std::move(guard)) { Tick(); }

  HttpAnswer Answer(const HttpRequest& request);
  /// What there is to do each second.
  void Tick() {
    timeline_.Tick();
    log_.Notice();
  }

 private:
  HttpAnswer AnswerApi(std::string_view name, const HttpRequest& request);
  HttpAnswer Status() const;
  HttpAnswer Samples(const HttpRequest& request) const;
  HttpAnswer Change(std::string_view name, const HttpRequest& request);

  const Guard guard_;
  ChangeLog log_;
  Timeline timeline_;
};

}  // namespace harena::live::internal
