#include "bench/replay/exchange_file.h"

#include <stdexcept>
#include <utility>

#include "bench/replay/capture_reader.h"

namespace harena::bench {

ExchangeFile ReadExchangeFile(const std::string& path) {
  Capture capture = ReadCapture(path, SIZE_MAX);
  if (!capture.problems.empty() || capture.exchanges.empty()) {
    throw std::runtime_error(path + " is not what the first step of a replay writes");
  }
  ExchangeFile file;
  for (Exchange& exchange : capture.exchanges) {
    file.requests.push_back(std::move(exchange.request));
    file.responses.push_back(std::move(exchange.response));
  }
  return file;
}

}  // namespace harena::bench
