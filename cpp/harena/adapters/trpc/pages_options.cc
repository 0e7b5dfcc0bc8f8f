#include "harena/adapters/trpc/pages_options.h"

#include <algorithm>

#include "harena/mem/page_pool.h"
#include "harena/pb/arena/block_hooks.h"

namespace harena::trpc {
namespace {

using google::protobuf::ArenaOptions;

// A block of another size would be rounded up by the pool, and protobuf would not use the rest.
std::optional<std::string> WhyNotBlock(const char* name, size_t bytes, const PagePool& pool) {
  const PagePoolOptions& pages = pool.options();
  if (bytes >= pages.page_bytes && bytes <= pages.block_bytes_max &&
      pool.BlockBytes(bytes) == bytes) {
    return std::nullopt;
  }
  return std::string("arena.") + name + " is " + std::to_string(bytes) +
         " bytes, and the pool has blocks of " + std::to_string(pages.page_bytes) +
         ", twice that, and so on up to " + std::to_string(pages.block_bytes_max) +
         "; leave it out, which means pages of " + std::to_string(pages.page_bytes) +
         ", or give a pool with another page_bytes";
}

}  // namespace

PagePool& PagesOptions::pool() const noexcept {
  return page_pool != nullptr ? *page_pool : PagePool::Default();
}

ArenaOptions PagesOptions::ForTrpc() const {
  const ArenaOptions unset;
  // tRPC fills requests and responses in frames of its own, which no exception may cross.
  ArenaOptions options = pb::PageArenaOptions(pool(), pb::WhenRefused::kOverrun);
  if (arena.start_block_size != unset.start_block_size) {
    options.start_block_size = arena.start_block_size;
    options.max_block_size = std::max(options.max_block_size, options.start_block_size);
  }
  if (arena.max_block_size != unset.max_block_size) options.max_block_size = arena.max_block_size;
  return options;
}

std::optional<std::string> PagesOptions::Validate() const {
  if (decay_interval.count() < 0) {
    return "decay_interval is below zero; zero turns the background thread off";
  }
  if (arena.initial_block != nullptr || arena.initial_block_size != 0) {
    return "arena.initial_block is set: tRPC makes two arenas for each request with the same "
           "options, so all of them would write into that one block; leave it out, the pool keeps "
           "blocks warm without it";
  }
  if (arena.block_alloc != nullptr || arena.block_dealloc != nullptr) {
    return "arena.block_alloc or arena.block_dealloc is set: these are what Harena's pool is put "
           "in by; leave them out, or call trpc::SetGlobalArenaOptions() yourself";
  }
  const ArenaOptions result = ForTrpc();
  if (auto problem = WhyNotBlock("start_block_size", result.start_block_size, pool())) {
    return problem;
  }
  if (auto problem = WhyNotBlock("max_block_size", result.max_block_size, pool())) return problem;
  if (result.max_block_size < result.start_block_size) {
    return "arena.max_block_size is below start_block_size; leave one of them out";
  }
  return std::nullopt;
}

}  // namespace harena::trpc
