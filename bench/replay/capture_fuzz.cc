// libFuzzer's body: a file of records that may hold anything. capture_reader_test.cc runs it too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "bench/replay/capture_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using harena::bench::Capture;
  Capture capture;
  // Small blocks, so that every length and string crosses their borders.
  google::protobuf::io::ArrayInputStream input(data, static_cast<int>(size), 7);
  ReadRecords(input, "fuzz", capture);
  size_t bytes = 0;
  for (const auto& exchange : capture.exchanges) {
    bytes += exchange.method.size() + exchange.request.size();
    if (exchange.response) bytes += exchange.response->size();
  }
  // Nothing comes from nowhere, and a damaged file is told of once.
  if (bytes > size || capture.problems.size() > 1) std::abort();
  return 0;
}
