#include "harena/live/internal/endpoint.h"

#include <netdb.h>

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "harena/live/internal/guard.h"

namespace harena::live::internal {

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
  endpoint.address_bytes = found->ai_addrlen;
  endpoint.loopback = IsLoopback(found->ai_addr);
  freeaddrinfo(found);
  return endpoint;
}

std::string TextOf(const Endpoint& endpoint, uint16_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (endpoint.address.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &endpoint.address, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(port);
  }
  sockaddr_in v4;
  std::memcpy(&v4, &endpoint.address, sizeof v4);
  inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(port);
}

}  // namespace harena::live::internal
