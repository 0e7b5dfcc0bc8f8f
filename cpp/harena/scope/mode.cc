#include "harena/scope/mode.h"

#include <cstddef>
#include <iterator>

namespace harena {

std::string_view ToString(Mode mode) noexcept {
  constexpr std::string_view kNames[] = {"heap", "arena", "pages", "reuse", "codec"};
  static_assert(std::size(kNames) == std::size(kModes));
  const auto index = static_cast<size_t>(mode);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

std::optional<Mode> ParseMode(std::string_view name) noexcept {
  for (const Mode mode : kModes) {
    if (ToString(mode) == name) return mode;
  }
  return std::nullopt;
}

}  // namespace harena
