// The frames of the conformance protocol: a length in 4 bytes, little endian, then as many bytes.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace harena::testee {

/// The longest body that a protobuf message can have.
inline constexpr size_t kFrameBytesMax = 0x7fffffff;

enum class FrameStatus {
  kRead,     ///< A whole frame.
  kEnd,      ///< The input ended where a frame would have begun.
  kCut,      ///< The input ended, or failed, inside a frame.
  kTooLong,  ///< A length above kFrameBytesMax: whatever follows, it is not this protocol.
};

/// What is wrong, as one sentence; empty for kRead and kEnd.
std::string_view Problem(FrameStatus status) noexcept;

/// Reads one frame; `body` is the frame's own only after kRead. Memory grows with the bytes that
/// arrive, not with the length that was announced. After kCut and kTooLong nothing more can be
/// read.
FrameStatus ReadFrame(std::FILE* in, std::string& body);

/// Writes one frame and flushes. False when the other side no longer takes it.
/// REQUIRES: body.size() <= kFrameBytesMax.
[[nodiscard]] bool WriteFrame(std::FILE* out, std::string_view body);

}  // namespace harena::testee
