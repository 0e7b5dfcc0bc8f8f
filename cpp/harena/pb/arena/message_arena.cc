#include "harena/pb/arena/message_arena.h"

#include <algorithm>
#include <memory>
#include <new>

#include "harena/base/compiler.h"
#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/layout/raw_string.h"

namespace harena::pb {
namespace {

// What stays in the scope's first block for the handler's own allocations.
constexpr size_t kKeepBytes = 2048;
// Below this protobuf could not even put its own head there.
constexpr size_t kStartBytesMin = 1024;

std::span<std::byte> StartOf(Scope& scope) {
  if (scope.mode() == Mode::kArena) return {};
  const ArenaStats stats = scope.arena().stats();
  const size_t rest_bytes =
      stats.bytes_in_blocks - std::min(stats.bytes_in_blocks, stats.bytes_used);
  if (rest_bytes < kStartBytesMin + kKeepBytes) return {};
  return scope.arena().TakeRest(kKeepBytes);
}

google::protobuf::ArenaOptions OptionsOf(Scope& scope, std::span<std::byte> start) {
  const WhenRefused when_refused =
      scope.messages_may_throw() ? WhenRefused::kThrow : WhenRefused::kOverrun;
  if (scope.mode() == Mode::kArena) return MallocArenaOptions(when_refused);
  google::protobuf::ArenaOptions options =
      EndedArenaOptions(*scope.arena().options().pool, when_refused);
  if (start.size() >= kStartBytesMin) {
    options.initial_block = reinterpret_cast<char*>(start.data());
    options.initial_block_size = start.size();
  }
  return options;
}

}  // namespace

MessageArena::MessageArena(Scope& scope) : MessageArena(scope, StartOf(scope)) {}

MessageArena::MessageArena(Scope& scope, std::span<std::byte> start)
    : start_bytes_(start.size()),
      on_pages_(scope.mode() != Mode::kArena),
      ending_(scope.ending()),
      budget_(scope.budget()),
      outside_(scope.outside()),
      decode_limits_(scope.decode_limits()),
      sampled_(scope.sampled()),
      parse_nanos_(scope.parse_nanos()),
      serialize_nanos_(scope.serialize_nanos()),
      written_(*scope.arena().options().pool) {
  // protobuf takes an arena's first block as it makes it.
  BudgetFrame frame(budget_);
  ::new (marked_arena_.place) google::protobuf::Arena(OptionsOf(scope, start));
  // The parser makes raw strings, and the serializer and the slabs look into strings as these do.
  const bool codec_works = HARENA_CODEC == 0 || layout::RawStringsWork();
  if (scope.mode() == Mode::kCodec && codec_works) {
    strings_.emplace(arena(), written_.pool().options().wipe_on_release);
    small_memory_.emplace(arena());
  }
  marked_arena_.owner = this;
  marked_arena_.mark = marked_arena_.MarkHere();
}

MessageArena::~MessageArena() {
  marked_arena_.mark = 0;
  // The arena ends strings and chunks; what keeps them goes after it.
  ending_.blocks += EndArena(*marked_arena_.arena(), ending_.end);
  ending_.blocks += written_.blocks();
}

// What stands before an arena that is not ours may be anything, poisoned bytes included.
HARENA_NO_SANITIZE HARENA_NOINLINE MessageArena* MessageArena::FindSlow(
    const google::protobuf::Arena* arena) noexcept {
  // Ours lie in a scope's block, aligned. Anybody else's are asked no further: what is before them
  // need not even be mapped.
  if (!MarkedArena::CanBeAround(arena)) return nullptr;
  const MarkedArena* const marked = MarkedArena::Around(arena);
  if (PagePool::OwnerOf(marked) == nullptr) return nullptr;
  if (marked->mark != marked->MarkHere()) return nullptr;
  last_found_ = arena;
  return marked->owner;
}

MessageArena* MessageArena::Find(const google::protobuf::Arena* arena) noexcept {
  return arena == nullptr ? nullptr : FindInline(arena);
}

MessageArena* MessageArena::FindCodec(const google::protobuf::Arena* arena) noexcept {
  return arena == nullptr ? nullptr : FindCodecInline(arena);
}

ptrdiff_t MessageArena::bytes_used_beyond_arena() const noexcept {
  return static_cast<ptrdiff_t>(marked_arena_.arena()->SpaceUsed()) -
         static_cast<ptrdiff_t>(start_bytes_);
}

size_t MessageArena::bytes_in_blocks_beyond_arena() const noexcept {
  const size_t bytes = marked_arena_.arena()->SpaceAllocated() - start_bytes_;
  return on_pages_ ? WholePages(bytes, written_.pool()) : bytes;
}

}  // namespace harena::pb
