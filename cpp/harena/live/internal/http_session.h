// One connection of the HTTP server: its requests, one after the other, and their answers.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>

#include "harena/live/internal/handler.h"
#include "harena/live/internal/http_server.h"

namespace harena::live::internal {

class HttpSession;

/// The connections that are open, those first that have been waiting for their client longest.
/// There is always room for one more: who waits longest has to go, so that clients who hold
/// connections and ask nothing keep nobody else out.
///
/// Thread rule: the server's own thread.
class HttpSessions {
 public:
  using Place = std::list<HttpSession*>::iterator;

  explicit HttpSessions(const HttpBounds& bounds) : bounds_(bounds) {}

  const HttpBounds& bounds() const noexcept { return bounds_; }

  Place Enter(HttpSession& session);
  /// To be called when a client has got its answer: its next wait begins.
  void Renew(Place place) noexcept { open_.splice(open_.end(), open_, place); }
  void Leave(Place place) noexcept { open_.erase(place); }

 private:
  const HttpBounds bounds_;
  std::list<HttpSession*> open_;
};

/// Lives as long as it waits for something.
///
/// Thread rule: the server's own thread.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  /// Lifetime rule: `handler` and `sessions` must outlive it.
  HttpSession(boost::asio::ip::tcp::socket socket, bool on_this_machine, Handler& handler,
              HttpSessions& sessions);
  ~HttpSession() { Leave(); }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void Begin() { ReadHeader(); }
  /// Closes the connection.
  void End() noexcept;

 private:
  using Error = boost::beast::error_code;

  void ReadHeader();
  void ReadBody();
  void ReadOn();
  /// Whether the request went wrong, which then has been seen to.
  bool Failed(Error error);
  void Answer(bool body_too_large);
  void Send(HttpAnswer answer, bool head, bool keep);
  void Linger();
  void Drain();
  void Leave() noexcept;

  /// Calls a member with the error of what was waited for, and keeps this alive until then.
  template <typename Then>
  auto Resume(Then then) {
    return
        [self = shared_from_this(), then](Error error, size_t bytes) { then(*self, error, bytes); };
  }

  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  HttpAnswer answer_;  // what response_ points into
  std::optional<boost::beast::http::response<boost::beast::http::span_body<const char>>> response_;
  size_t drained_bytes_ = 0;
  const bool on_this_machine_;
  Handler& handler_;
  HttpSessions& sessions_;
  HttpSessions::Place place_;
  bool open_ = true;
};

}  // namespace harena::live::internal
