// So that nobody can occupy a server through its page.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace harena::live::internal {

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

}  // namespace harena::live::internal
