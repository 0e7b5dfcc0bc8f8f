// Overwriting what nobody may read any more.
#pragma once

#include <string.h>

#include <cstddef>

namespace harena {

/// Overwrites memory with zeroes, unless `data` is null. No compiler leaves that out, though nobody
/// reads them.
inline void Wipe(void* data, size_t bytes) noexcept {
  if (data != nullptr) explicit_bzero(data, bytes);
}

}  // namespace harena
