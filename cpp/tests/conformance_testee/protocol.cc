#include "protocol.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace harena::testee {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kStepBytes = size_t{1} << 20;

}  // namespace

std::string_view Problem(FrameStatus status) noexcept {
  switch (status) {
    case FrameStatus::kRead:
    case FrameStatus::kEnd:
      return "";
    case FrameStatus::kCut:
      return "the input ended in the middle of a frame";
    case FrameStatus::kTooLong:
      return "a frame announces more than 2147483647 bytes, which no message has";
  }
  return "unknown frame status";
}

FrameStatus ReadFrame(std::FILE* in, std::string& body) {
  std::array<unsigned char, kLengthBytes> length;
  const size_t got = std::fread(length.data(), 1, length.size(), in);
  if (got == 0 && !std::ferror(in)) return FrameStatus::kEnd;
  if (got != length.size()) return FrameStatus::kCut;

  uint32_t bytes = 0;
  for (size_t i = 0; i < length.size(); ++i) bytes |= uint32_t{length[i]} << (8 * i);
  if (bytes > kFrameBytesMax) return FrameStatus::kTooLong;

  body.clear();
  while (body.size() < bytes) {
    const size_t at = body.size();
    const size_t step = std::min(kStepBytes, bytes - at);
    body.resize(at + step);
    if (std::fread(body.data() + at, 1, step, in) != step) return FrameStatus::kCut;
  }
  return FrameStatus::kRead;
}

bool WriteFrame(std::FILE* out, std::string_view body) {
  std::array<unsigned char, kLengthBytes> length;
  for (size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>(body.size() >> (8 * i));
  }
  return std::fwrite(length.data(), 1, length.size(), out) == length.size() &&
         std::fwrite(body.data(), 1, body.size(), out) == body.size() && std::fflush(out) == 0;
}

}  // namespace harena::testee
