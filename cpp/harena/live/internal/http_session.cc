#include "harena/live/internal/http_session.h"

#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace harena::live::internal {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr size_t kDrainBytes = size_t{4} << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

using Request = http::request<http::string_body>;

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }
beast::string_view View(std::string_view text) { return {text.data(), text.size()}; }

/// What a query such as "a=1&after_ms=2" has for a name; empty when it has none.
std::string_view InQuery(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return {};
}

HttpRequest RequestOf(const Request& request, bool body_too_large, bool on_this_machine) {
  const std::string_view target = View(request.target());
  const size_t question = target.find('?');
  const std::string_view query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  const bool head = request.method() == http::verb::head;
  return {.method = head ? "GET" : View(request.method_string()),
          .path = target.substr(0, question),
          .after_ms = InQuery(query, "after_ms"),
          .body = request.body(),
          .body_too_large = body_too_large,
          .caller = {.host = View(request[http::field::host]),
                     .authorization = View(request[http::field::authorization]),
                     .content_type = View(request[http::field::content_type]),
                     .origin = View(request[http::field::origin]),
                     .fetch_site = View(request["Sec-Fetch-Site"]),
                     .on_this_machine = on_this_machine}};
}

template <typename Response, typename Name>
void AddHeader(Response& response, Name name, std::string_view value) {
  if (!value.empty()) response.set(name, View(value));
}

}  // namespace

HttpSessions::Place HttpSessions::Enter(HttpSession& session) {
  const Place place = open_.insert(open_.end(), &session);
  if (open_.size() > bounds_.connections_max) open_.front()->End();
  return place;
}

HttpSession::HttpSession(boost::asio::ip::tcp::socket socket, bool on_this_machine,
                         Handler& handler, HttpSessions& sessions)
    : stream_(std::move(socket)),
      buffer_(size_t{2} * sessions.bounds().header_bytes_max),
      on_this_machine_(on_this_machine),
      handler_(handler),
      sessions_(sessions),
      place_(sessions.Enter(*this)) {}

void HttpSession::End() noexcept {
  Leave();
  stream_.close();
}

void HttpSession::Leave() noexcept {
  if (std::exchange(open_, false)) sessions_.Leave(place_);
}

void HttpSession::ReadHeader() {
  if (!open_) return;
  parser_.emplace();
  parser_->header_limit(sessions_.bounds().header_bytes_max);
  // Bounded when it is known who asks: ReadBody(). Boost 1.74 refuses every body where there is
  // none.
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  stream_.expires_after(sessions_.bounds().request_max);
  http::async_read_header(stream_, buffer_, *parser_,
                          Resume([](HttpSession& self, Error error, size_t) {
                            if (!self.Failed(error)) self.ReadBody();
                          }));
}

void HttpSession::ReadBody() {
  const auto wanted = parser_->content_length();
  if (wanted && *wanted > kBufferBytesMax) return Answer(/*body_too_large=*/true);
  if (parser_->is_done()) return Answer(/*body_too_large=*/false);
  parser_->body_limit(kBufferBytesMax);
  if (!beast::iequals(parser_->get()[http::field::expect], "100-continue")) return ReadOn();
  boost::asio::async_write(stream_, boost::asio::buffer(kContinue),
                           Resume([](HttpSession& self, Error error, size_t) {
                             if (!error) self.ReadOn();
                           }));
}

void HttpSession::ReadOn() {
  http::async_read(stream_, buffer_, *parser_, Resume([](HttpSession& self, Error error, size_t) {
                     if (error == http::error::body_limit) {
                       self.Answer(/*body_too_large=*/true);
                     } else if (!self.Failed(error)) {
                       self.Answer(/*body_too_large=*/false);
                     }
                   }));
}

bool HttpSession::Failed(Error error) {
  if (!error) return false;
  const bool gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                    error.category() != http::make_error_code(http::error::bad_method).category();
  if (!gone) {
    const bool large = error == http::error::header_limit || error == http::error::buffer_overflow;
    Send(large ? Refuse(431, "the headers have more than " +
                                 std::to_string(sessions_.bounds().header_bytes_max) + " bytes")
               : Refuse(400, "this is no HTTP request: " + error.message()),
         /*head=*/false, /*keep=*/false);
  }
  return true;
}

void HttpSession::Answer(bool body_too_large) {
  const Request& request = parser_->get();
  const bool keep = request.keep_alive() && parser_->is_done();
  const bool head = request.method() == http::verb::head;
  if (request.count(http::field::host) > 1) {
    return Send(Refuse(400, "there is more than one Host header"), head, keep);
  }
  Send(handler_.Answer(RequestOf(request, body_too_large, on_this_machine_)), head, keep);
}

void HttpSession::Send(HttpAnswer answer, bool head, bool keep) {
  answer_ = std::move(answer);
  const std::string_view content = answer_.page.data() != nullptr ? answer_.page : answer_.body;
  response_.emplace();
  response_->version(parser_->get().version() == 10 ? 10 : 11);
  response_->result(answer_.status);
  response_->keep_alive(keep);
  for (const HttpHeader& header : kHeaders) AddHeader(*response_, header.name, header.value);
  AddHeader(*response_, http::field::content_type, answer_.content_type);
  AddHeader(*response_, http::field::location, answer_.location);
  AddHeader(*response_, http::field::allow, answer_.allow);
  if (answer_.status == 401) {
    AddHeader(*response_, http::field::www_authenticate, "Bearer realm=\"harena\"");
  }
  response_->content_length(content.size());
  if (!head) response_->body() = beast::span<const char>(content.data(), content.size());
  stream_.expires_after(sessions_.bounds().answer_max);
  http::async_write(stream_, *response_, Resume([keep](HttpSession& self, Error error, size_t) {
                      if (error) return;
                      if (!keep) return self.Linger();
                      if (self.open_) self.sessions_.Renew(self.place_);
                      self.ReadHeader();
                    }));
}

void HttpSession::Linger() {
  Error error;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, error);
  if (error) return;
  stream_.expires_after(sessions_.bounds().linger_max);
  Drain();
}

void HttpSession::Drain() {
  buffer_.clear();
  stream_.async_read_some(
      buffer_.prepare(kDrainBytes), Resume([](HttpSession& self, Error error, size_t bytes) {
        self.drained_bytes_ += bytes;
        if (!error && self.drained_bytes_ < self.sessions_.bounds().linger_bytes_max) self.Drain();
      }));
}

}  // namespace harena::live::internal
