#include "harena/scope/mode.h"

namespace harena {

std::string_view ToString(Mode mode) noexcept {
  switch (mode) {
    case Mode::kHeap:
      return "heap";
    case Mode::kArena:
      return "arena";
    case Mode::kPages:
      return "pages";
    case Mode::kReuse:
      return "reuse";
    case Mode::kCodec:
      return "codec";
  }
  return "unknown";
}

std::optional<Mode> ParseMode(std::string_view name) noexcept {
  for (const Mode mode : kModes) {
    if (ToString(mode) == name) return mode;
  }
  return std::nullopt;
}

}  // namespace harena
