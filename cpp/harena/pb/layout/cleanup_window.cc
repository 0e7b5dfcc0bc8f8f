#include "harena/pb/layout/cleanup_window.h"

#include <google/protobuf/empty.pb.h>

#if HARENA_CODEC
namespace harena::pb::layout {
namespace {

// Containers and other things, noted in several blocks.
bool Try() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = 512;
  options.max_block_size = 512;
  Arena arena(options);
  CleanupMarks marks;
  size_t others = 0;
  std::vector<const UnknownFieldSet*> found;
  const auto look = [&] {
    others = 0;
    found.clear();
    return marks.Look(arena, false, &others,
                      [&](const UnknownFieldSet& set) { found.push_back(&set); });
  };
  if (!look() || !found.empty() || others != 0) return false;
  for (size_t round = 1; round <= 3; ++round) {
    std::vector<const UnknownFieldSet*> made;
    for (size_t i = 0; i < 7 * round; ++i) {
      auto* const message = Arena::CreateMessage<google::protobuf::Empty>(&arena);
      UnknownFieldSet* const set = message->GetReflection()->MutableUnknownFields(message);
      for (size_t j = 0; j <= i; ++j) set->AddVarint(1, j);
      if (EntriesOf(*set).size() != i + 1 || EntriesOf(*set)[i].varint() != i) return false;
      made.push_back(set);
      for (size_t j = 0; j < i; ++j) Arena::Create<std::string>(&arena, "a string");
    }
    if (!look() || others != 7 * round * (7 * round - 1) / 2) return false;
    std::sort(found.begin(), found.end());
    std::sort(made.begin(), made.end());
    if (found != made) return false;
  }
  return look() && found.empty() && others == 0;
}

}  // namespace

bool CleanupWindowWorks() noexcept {
  static const bool works = [] {
    try {
      return Try();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }();
  return works;
}

}  // namespace harena::pb::layout
#endif  // HARENA_CODEC
