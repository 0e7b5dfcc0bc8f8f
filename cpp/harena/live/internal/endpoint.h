// Where to listen.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace harena::live::internal {

/// An address with its port, as the system has it.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t address_bytes = 0;
  bool loopback = false;
};

/// Looks an address such as "127.0.0.1:9090" up; nullopt and `*problem` when it is none.
std::optional<Endpoint> Resolve(const std::string& address, std::string* problem);

/// "127.0.0.1:9090", "[::1]:9090": the endpoint's address with another port.
std::string TextOf(const Endpoint& endpoint, uint16_t port);

}  // namespace harena::live::internal
