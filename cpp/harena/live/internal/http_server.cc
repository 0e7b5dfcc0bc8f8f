#include "harena/live/internal/http_server.h"

#include <microhttpd.h>
#include <netdb.h>
#include <string.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace harena::live::internal {
namespace {

// So that nobody can occupy the server through its page.
constexpr unsigned kConnectionsMax = 64;
constexpr unsigned kIdleSecondsMax = 30;
constexpr size_t kConnectionBytes = size_t{32} << 10;

/// What has come of one request's body.
struct Incoming {
  std::string body;
  bool too_large = false;
};

std::string_view Header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : value;
}

HttpRequest RequestOf(MHD_Connection* connection, const char* url, std::string_view method,
                      const Incoming& incoming) {
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const char* after = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "after_ms");
  return {.method = method == MHD_HTTP_METHOD_HEAD ? MHD_HTTP_METHOD_GET : method,
          .path = url,
          .after_ms = after == nullptr ? std::string_view() : after,
          .body = incoming.body,
          .body_too_large = incoming.too_large,
          .caller = {.host = Header(connection, MHD_HTTP_HEADER_HOST),
                     .authorization = Header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
                     .content_type = Header(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
                     .on_this_machine = info != nullptr && IsLoopback(info->client_addr)}};
}

void AddHeader(MHD_Response* response, const char* name, std::string_view value) {
  if (!value.empty()) MHD_add_response_header(response, name, std::string(value).c_str());
}

MHD_Result Send(MHD_Connection* connection, const HttpAnswer& answer) {
  const bool page = answer.page.data() != nullptr;
  const std::string_view content = page ? answer.page : answer.body;
  // libmicrohttpd's type is not const; it does not write.
  MHD_Response* response =
      MHD_create_response_from_buffer(content.size(), const_cast<char*>(content.data()),
                                      page ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  for (const HttpHeader& header : kHeaders) AddHeader(response, header.name, header.value);
  AddHeader(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type);
  AddHeader(response, MHD_HTTP_HEADER_LOCATION, answer.location);
  AddHeader(response, MHD_HTTP_HEADER_ALLOW, answer.allow);
  if (answer.status == 401) {
    AddHeader(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"harena\"");
  }
  const MHD_Result sent = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return sent;
}

/// libmicrohttpd calls it first with the headers, then with each part of the body, then with none.
MHD_Result Access(void* handler, MHD_Connection* connection, const char* url, const char* method,
                  const char*, const char* data, size_t* data_bytes, void** state) noexcept try {
  auto* incoming = static_cast<Incoming*>(*state);
  if (incoming == nullptr) {
    *state = new Incoming;
    return MHD_YES;
  }
  if (*data_bytes > 0) {
    if (incoming->body.size() + *data_bytes > kBodyBytesMax) {
      incoming->too_large = true;
    } else {
      incoming->body.append(data, *data_bytes);
    }
    *data_bytes = 0;
    return MHD_YES;
  }
  return Send(connection, static_cast<Handler*>(handler)->Answer(
                              RequestOf(connection, url, method, *incoming)));
} catch (const std::exception&) {
  return MHD_NO;  // no memory: it closes the connection, and the server goes on
}

void Completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) noexcept {
  delete static_cast<Incoming*>(*state);
  *state = nullptr;
}

std::string TextOf(const sockaddr_storage& address, uint16_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(port);
  }
  sockaddr_in v4;
  std::memcpy(&v4, &address, sizeof v4);
  inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(port);
}

}  // namespace

std::optional<Endpoint> Resolve(const std::string& address, std::string* problem) {
  *problem = "\"" + address + "\" is not an address to listen on, such as 127.0.0.1:9090";
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), address.c_str() + colon + 1,
                                &hints, &found);
  if (error != 0) {
    *problem += std::string(": ") + gai_strerror(error);
    return std::nullopt;
  }
  Endpoint endpoint;
  std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
  endpoint.loopback = IsLoopback(found->ai_addr);
  freeaddrinfo(found);
  return endpoint;
}

HttpServer::HttpServer(const Endpoint& endpoint, Handler& handler) {
  const bool v6 = endpoint.address.ss_family == AF_INET6;
  errno = 0;
  daemon_ = MHD_start_daemon(
      MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | (v6 ? MHD_USE_IPv6 : MHD_NO_FLAG),
      /*port=*/0, nullptr, nullptr, &Access, &handler, MHD_OPTION_SOCK_ADDR, &endpoint.address,
      MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSecondsMax,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes, MHD_OPTION_NOTIFY_COMPLETED, &Completed,
      nullptr, MHD_OPTION_END);
  if (daemon_ == nullptr) {
    problem_ = errno == 0 ? "the HTTP server did not start" : strerror(errno);
    return;
  }
  const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
  address_ = TextOf(endpoint.address, info == nullptr ? uint16_t{0} : info->port);
}

HttpServer::~HttpServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

}  // namespace harena::live::internal
