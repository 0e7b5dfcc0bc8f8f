// The heap buffers of strings that have ended, kept for the next ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harena/base/compiler.h"
#include "harena/pb/layout/raw_string.h"

namespace harena::pb {

/// Ordinary strings without malloc: a std::string is built around a buffer that another one has
/// left behind. Whoever gets such a string may do with it whatever one may do with a std::string;
/// its buffer came from operator new and may go to operator delete.
///
/// Buffers are kept by size per thread, up to a bound; what is over it goes to a list that all
/// threads share, bounded too, because an RPC often ends on another thread than it began on. A free
/// buffer holds its own place in these lists, so the bounds are all that they take.
/// Thread rule: any thread. Strings keep no tie to the thread they were made on.

/// Constructs a string with that content at `place`. Throws std::bad_alloc.
std::string* MakeString(void* place, std::string_view text);

/// The same for what is a string already.
HARENA_INLINE std::string* CopyString(void* place, const std::string& text);

/// What the buffer of a string of that size may take of the heap: one that MakeString() makes, or
/// one that a std::string makes as it is assigned to.
size_t StringBufferBytes(size_t size) noexcept;

/// Ends `string`, but keeps its buffer when it is of a size that MakeString() makes.
inline void EndString(std::string& string) noexcept;

/// Gives the shared list's buffers back to the heap, and the calling thread's; other threads give
/// theirs with a later string.
void TrimStringBuffers() noexcept;

/// Gives back to the heap what has lain in the shared list, unused, since the last call.
void DecayStringBuffers() noexcept;

struct StringBufferStats {
  size_t bytes_shared = 0;  ///< In the list that all threads share.
  size_t bytes_thread = 0;  ///< Kept by the calling thread.
};
StringBufferStats GetStringBufferStats() noexcept;

/// Longer buffers are not kept.
inline constexpr size_t kBufferBytesMax = 4096;
/// What one thread keeps, and what the shared list keeps, at most.
inline constexpr size_t kThreadBuffersBytesMax = size_t{512} << 10;
inline constexpr size_t kSharedBuffersBytesMax = size_t{32} << 20;

/// EndString() for a string that has a buffer.
void EndLongString(std::string& string) noexcept;

std::string* CopyString(void* place, const std::string& text) {
  if (HARENA_LIKELY(text.size() <= layout::RawString::kLocalMax)) {
    // A string has room for a local text, wherever its bytes are.
    layout::RawString::WriteLocal(place, text.data(), text.size());
    return static_cast<std::string*>(place);
  }
  return MakeString(place, text);
}

void EndString(std::string& string) noexcept {
  if (!layout::IsLocal(string)) EndLongString(string);
}

}  // namespace harena::pb
