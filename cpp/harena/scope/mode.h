#pragma once

#include <optional>
#include <string_view>

namespace harena {

/// How the messages of one request get their memory. Chosen per server and per method, at start or
/// while running; a change takes effect with the next request.
enum class Mode {
  kHeap,   ///< What the framework does by itself: messages on the heap.
  kArena,  ///< protobuf's own arena, its blocks from malloc.
  kPages,  ///< protobuf's arena on the page pool's recycled blocks.
  kReuse,  ///< Message instances kept, cleared and filled again; rebuilt when they have grown.
  kCodec,  ///< Pages, and the generated codec: strings on the pages too, a serializer in one pass.
           ///< Messages without generated code are served as `pages`.
};

inline constexpr Mode kModes[] = {Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                  Mode::kCodec};

/// "heap", "arena", "pages", "reuse" or "codec".
std::string_view ToString(Mode mode) noexcept;

/// The mode of that name; nullopt for any other text.
std::optional<Mode> ParseMode(std::string_view name) noexcept;

}  // namespace harena
