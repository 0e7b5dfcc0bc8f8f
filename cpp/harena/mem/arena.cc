#include "harena/mem/arena.h"

#include <string.h>

#include <algorithm>

#include "harena/base/check.h"

namespace harena {
namespace {

constexpr size_t kAlignmentMax = 4096;

}  // namespace

Arena::Arena(const ArenaOptions& options) noexcept : options_(options) {
  next_block_bytes_ = FirstBlockBytes();
}

Arena::Arena(const ArenaOptions& options, Block first, size_t skip_bytes) noexcept
    : options_(options), given_(first), given_skip_bytes_(skip_bytes) {
  HARENA_DCHECK(skip_bytes <= first.bytes, "an arena's first block is smaller than its skip_bytes");
  Reset(Retain::kFirstBlock);
}

Arena::~Arena() {
  Reset(Retain::kNothing);
  // The caller's block is the caller's again, and it may be of the stack.
  if (given_) Unpoison(reinterpret_cast<void*>(begin_), limit_ - begin_);
}

size_t Arena::FirstBlockBytes() const noexcept {
  return std::max(options_.first_block_bytes, options_.pool->options().page_bytes);
}

// What is due after a block of `block_bytes`: twice that, up to the limit, never less.
size_t Arena::NextAfter(size_t block_bytes) const noexcept {
  return std::min(std::max(2 * block_bytes, block_bytes),
                  std::max(options_.block_bytes_max, block_bytes));
}

HARENA_NOINLINE void* Arena::AllocateSlowOrThrow(size_t bytes, size_t alignment) {
  Refusal refusal;
  void* result = AllocateSlow(bytes, alignment, &refusal);
  if (result == nullptr) throw BudgetExceeded(refusal);
  return result;
}

HARENA_NOINLINE void* Arena::AllocateSlow(size_t bytes, size_t alignment,
                                          Refusal* refusal) noexcept {
  HARENA_CHECK(alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= kAlignmentMax,
               "Arena: an alignment must be a power of two up to 4096");
  if (bytes > kAllocationBytesMax) {
    if (refusal != nullptr) *refusal = {.bytes_wanted = bytes};
    return nullptr;
  }
  const size_t needed_bytes = sizeof(Header) + alignment + bytes + kRedzoneBytes;
  Header* header = TakeBlock(needed_bytes, refusal);
  if (header == nullptr) return nullptr;

  const uintptr_t begin = reinterpret_cast<uintptr_t>(header + 1);
  const uintptr_t limit = reinterpret_cast<uintptr_t>(header) + header->charged_bytes;
  Poison(header + 1, header->bytes - sizeof(Header));
  const uintptr_t old_begin = begin_, old_next = next_, old_limit = limit_;
  begin_ = next_ = begin;
  limit_ = limit;
  void* result = Bump(bytes, alignment);
  // Go on in whichever block has more room, so that a large object does not cost the rest of a
  // page.
  if (old_limit - old_next > limit_ - next_) {
    used_before_ += next_ - begin_;
    begin_ = old_begin;
    next_ = old_next;
    limit_ = old_limit;
    ++oversize_count_;
  } else {
    used_before_ += old_next - old_begin;
    next_block_bytes_ = NextAfter(next_block_bytes_);
  }
  return result;
}

// A block with room for `needed_bytes`: of the size that is due if the budget allows, otherwise as
// small as can be.
Arena::Header* Arena::TakeBlock(size_t needed_bytes, Refusal* refusal) noexcept {
  PagePool& pool = *options_.pool;
  const size_t page_bytes = pool.options().page_bytes;
  const size_t due_bytes = pool.BlockBytes(std::max(needed_bytes, next_block_bytes_));
  Refusal ignored;
  if (Header* header = TakeBlock(due_bytes, due_bytes, /*slack_bytes=*/0, &ignored)) return header;
  const size_t least_bytes = (needed_bytes + page_bytes - 1) & ~(page_bytes - 1);
  return TakeBlock(pool.BlockBytes(least_bytes), least_bytes, least_bytes - needed_bytes,
                   refusal == nullptr ? &ignored : refusal);
}

Arena::Header* Arena::TakeBlock(size_t block_bytes, size_t charged_bytes, size_t slack_bytes,
                                Refusal* refusal) noexcept {
  Budget* budget = options_.budget;
  if (budget != nullptr && !budget->TryCharge(charged_bytes, slack_bytes, refusal)) return nullptr;
  const Block block = options_.pool->TryAllocate(block_bytes, refusal);
  if (!block) {
    if (budget != nullptr) budget->Refund(charged_bytes);
    return nullptr;
  }
  bytes_in_blocks_ += charged_bytes;
  ++block_count_;
  blocks_ = ::new (block.data) Header{blocks_, block.bytes, charged_bytes};
  return blocks_;
}

void Arena::FreeBlock(Header* header) noexcept {
  if (options_.budget != nullptr) options_.budget->Refund(header->charged_bytes);
  bytes_in_blocks_ -= header->charged_bytes;
  --block_count_;
  options_.pool->Free(header, header->bytes);
}

std::span<std::byte> Arena::TakeRest(size_t keep_bytes) noexcept {
  const uintptr_t start = (next_ + kDefaultAlignment - 1) & ~(kDefaultAlignment - 1);
  if (start + kRedzoneBytes >= limit_ || keep_bytes >= limit_ - start - kRedzoneBytes) return {};
  const size_t bytes =
      (limit_ - start - kRedzoneBytes - keep_bytes) & ~size_t{kDefaultAlignment - 1};
  if (bytes == 0) return {};  // Not even a gap or a redzone is taken for nothing.
  return {static_cast<std::byte*>(Bump(bytes, kDefaultAlignment)), bytes};
}

void Arena::RunCleanups() noexcept {
  while (cleanups_ != nullptr) {
    Cleanup* cleanup = cleanups_;
    cleanups_ = cleanup->previous;
    cleanup->function(cleanup->target);
  }
}

void Arena::Reset(Retain retain) noexcept {
  RunCleanups();
  // A rare giant must not pin memory: neither as the first block nor through the size that is due.
  const size_t kept_bytes_max =
      retain == Retain::kFirstBlock && !given_ ? options_.pool->BlockBytes(FirstBlockBytes()) : 0;
  while (blocks_ != nullptr &&
         !(blocks_->previous == nullptr && blocks_->bytes <= kept_bytes_max)) {
    Header* header = blocks_;
    blocks_ = header->previous;
    FreeBlock(header);
  }
  uintptr_t kept = 0;
  limit_ = 0;
  next_block_bytes_ = FirstBlockBytes();
  if (given_) {
    next_block_bytes_ = std::max(next_block_bytes_, NextAfter(given_.bytes));
    kept = reinterpret_cast<uintptr_t>(given_.data) + given_skip_bytes_;
    limit_ = reinterpret_cast<uintptr_t>(given_.data) + given_.bytes;
  } else if (blocks_ != nullptr) {
    next_block_bytes_ = NextAfter(next_block_bytes_);
    kept = reinterpret_cast<uintptr_t>(blocks_ + 1);
    limit_ = reinterpret_cast<uintptr_t>(blocks_) + blocks_->charged_bytes;
  }
  // Nothing to wipe before the first block was used.
  if (retain == Retain::kFirstBlock && begin_ != 0 && options_.pool->options().wipe_on_release &&
      kept != 0) {
    // Where no other block was taken, nobody had what is behind.
    const size_t had_bytes = (begin_ == kept ? next_ : limit_) - kept;
    Unpoison(reinterpret_cast<void*>(kept), had_bytes);
    explicit_bzero(reinterpret_cast<void*>(kept), had_bytes);
  }
  Poison(reinterpret_cast<void*>(kept), limit_ - kept);
  begin_ = next_ = kept;
  used_before_ = 0;
  oversize_count_ = 0;
  cleanup_count_ = 0;
}

ArenaStats Arena::stats() const noexcept {
  return {
      .bytes_used = bytes_used(),
      .bytes_in_blocks = bytes_in_blocks_ + given_.bytes,
      .blocks = block_count_ + (given_ ? 1 : 0),
      .oversize_blocks = oversize_count_,
      .cleanups = cleanup_count_,
  };
}

}  // namespace harena
