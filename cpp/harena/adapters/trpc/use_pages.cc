#include "harena/adapters/trpc/use_pages.h"

#include <algorithm>
#include <memory>

#include "harena/adapters/trpc/trpc_side.h"
#include "harena/base/check.h"
#include "harena/mem/background_decay.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/admin/counts.h"
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

// What the process uses from the first call on; never destroyed, as tRPC's own options are not.
struct InUse {
  PagesOptions options;
  std::optional<BackgroundDecay> decay;
};
InUse* in_use = nullptr;

bool Same(const PagesOptions& one, const PagesOptions& other) {
  return &one.pool() == &other.pool() &&
         one.ForTrpc().start_block_size == other.ForTrpc().start_block_size &&
         one.ForTrpc().max_block_size == other.ForTrpc().max_block_size &&
         one.decay_interval == other.decay_interval && one.expose_vars == other.expose_vars;
}

// Whether an arena as tRPC makes it stands on the pool.
bool TrpcTakesFrom(const PagePool& pool) {
  const std::unique_ptr<google::protobuf::Arena> arena(trpc_side::NewArena());
  return PagePool::OwnerOf(google::protobuf::Arena::CreateArray<char>(arena.get(), 8)) == &pool;
}

void ShowVariables() {
  for (const auto& [name, get] : pb::kPoolCounts) {
    trpc_side::ShowVariable(std::string("harena/pages/") + name,
                            [get = get] { return get(in_use->options.pool()); });
  }
  for (const auto& [name, get] : pb::kProcessCounts) {
    trpc_side::ShowVariable(std::string("harena/process/") + name,
                            [get = get] { return get(ProcessBudget()); });
  }
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

std::optional<std::string> TryUsePages(const PagesOptions& options) {
  if (auto problem = options.Validate()) return problem;
  if (in_use != nullptr && Same(in_use->options, options)) return std::nullopt;
  if (trpc_side::HasServedRequests()) {
    return "requests have been served already, and tRPC reads its arena options without a lock; "
           "call UsePages() in Initialize(), before services are registered";
  }
  if (in_use != nullptr) {
    return "UsePages() was called before with other options; tRPC has one set of them for the "
           "whole process: call it once";
  }
  trpc_side::SetArenaOptions(options.ForTrpc());
  PagePool& pool = options.pool();
  HARENA_CHECK(TrpcTakesFrom(pool),
               "tRPC did not take the arena options: this process has two copies of tRPC, one of "
               "which Harena was linked with; link tRPC once");
  in_use = new InUse{.options = options, .decay = {}};
  if (options.expose_vars) ShowVariables();
  if (options.decay_interval.count() > 0) {
    in_use->decay.emplace(options.decay_interval, [&pool] { static_cast<void>(pool.Decay()); });
  }
  return std::nullopt;
}

void UsePages(const PagesOptions& options) {
  if (const auto problem = TryUsePages(options)) {
    FailCheck("harena::trpc::UsePages", 0, "PagesOptions", problem->c_str());
  }
}

}  // namespace harena::trpc
