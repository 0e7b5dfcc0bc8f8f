#include "harena/scope/options.h"

#include <cstdio>

namespace harena {
namespace {

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::optional<std::string> WhyNotDecoding(const Options& options) {
  const double ratio_max = options.decoded_ratio_max;
  if (!(ratio_max == 0 || ratio_max >= 1)) {
    return "decoded_ratio_max is " + Number(ratio_max) +
           "; a decoded request is hardly smaller than its wire: give it 1 or more, or 0 for the "
           "default";
  }
  if (options.depth_max < 0 || options.depth_max > kDepthLevelsMax) {
    return "depth_max is " + std::to_string(options.depth_max) +
           "; it must lie between 1 (no messages in messages) and " +
           std::to_string(kDepthLevelsMax) + ", or be 0 for protobuf's own limit";
  }
  const bool has_ratio = options.decode_limits().has_ratio();
  if (options.mode == Mode::kHeap && (has_ratio || options.depth_max != 0)) {
    return std::string("mode heap cannot hold ") + (has_ratio ? kDecodedRatioMax : kDepthMax) +
           ": the framework parses by itself; choose codec, pages, arena or reuse, or leave it out";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Options::Validate() const {
  const size_t page_bytes = pool().options().page_bytes;
  const size_t block_bytes_max = pool().options().block_bytes_max;
  if (request_bytes_max == 0) {
    return "request_bytes_max is 0, which would refuse every request; leave it out for no limit";
  }
  if (request_bytes_max < page_bytes) {
    return "request_bytes_max is " + std::to_string(request_bytes_max) +
           ", less than one page; give it at least page_bytes (" + std::to_string(page_bytes) + ")";
  }
  if (mode == Mode::kReuse && request_bytes_max < 2 * page_bytes) {
    return "request_bytes_max is " + std::to_string(request_bytes_max) +
           ", but mode reuse needs a page for the scope and one for the kept messages; give it at "
           "least " +
           std::to_string(2 * page_bytes) + ", or choose mode pages";
  }
  if (quarantine_one_in > (size_t{1} << 32)) {
    return "quarantine_one_in is " + std::to_string(quarantine_one_in) +
           "; it may be at most 4294967296 (default 1000), or 0 for no quarantine";
  }
  if (mode == Mode::kHeap && request_bytes_max != kUnlimitedBytes) {
    return "mode heap cannot hold request_bytes_max: messages on the heap offer no place to count; "
           "choose arena, pages or reuse, or leave request_bytes_max out";
  }
  if (auto problem = WhyNotDecoding(*this)) return problem;
  if (first_block_bytes > block_bytes_max) {
    return "first_block_bytes is " + std::to_string(first_block_bytes) +
           "; the pool's largest block is block_bytes_max, " + std::to_string(block_bytes_max);
  }
  if (first_block_bytes_max < page_bytes || first_block_bytes_max > block_bytes_max) {
    return "first_block_bytes_max is " + std::to_string(first_block_bytes_max) +
           "; it must lie between page_bytes (" + std::to_string(page_bytes) +
           ") and the pool's block_bytes_max (" + std::to_string(block_bytes_max) + ")";
  }
  if (!(first_block_percentile > 0 && first_block_percentile <= 100)) {
    return "first_block_percentile is " + Number(first_block_percentile) +
           "; it must lie above 0 and up to 100 (default 75)";
  }
  if (!(reuse_growth_max > 1)) {
    return "reuse_growth_max is " + Number(reuse_growth_max) +
           "; it must be above 1, or every request would rebuild its messages (default 4)";
  }
  if (reuse_bytes_max < page_bytes) {
    return "reuse_bytes_max is " + std::to_string(reuse_bytes_max) +
           ", less than one page, so nothing could be kept; choose mode pages instead";
  }
  return std::nullopt;
}

}  // namespace harena
