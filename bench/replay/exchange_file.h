#pragma once

#include <optional>
#include <string>
#include <vector>

namespace harena::bench {

/// The chosen exchanges: requests and responses at the same index.
struct ExchangeFile {
  std::vector<std::string> requests;
  std::vector<std::optional<std::string>> responses;
};

/// Reads what harena_replay_prepare wrote. Throws std::runtime_error for anything else.
ExchangeFile ReadExchangeFile(const std::string& path);

}  // namespace harena::bench
