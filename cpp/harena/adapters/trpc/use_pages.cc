#include "harena/adapters/trpc/use_pages.h"

#include <memory>

#include "harena/adapters/trpc/trpc_side.h"
#include "harena/base/check.h"
#include "harena/mem/background_decay.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/arena/block_hooks.h"

namespace harena::trpc {
namespace {

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

template <auto kMember>
void ShowOfPool(const char* path) {
  trpc_side::ShowVariable(path,
                          []() -> uint64_t { return in_use->options.pool().stats().*kMember; });
}

void ShowVariables() {
  using Stats = PagePoolStats;
  ShowOfPool<&Stats::bytes_in_use>("harena/pages/bytes_in_use");
  ShowOfPool<&Stats::bytes_thread_cached>("harena/pages/bytes_thread_cached");
  ShowOfPool<&Stats::bytes_retained>("harena/pages/bytes_retained");
  ShowOfPool<&Stats::bytes_cold>("harena/pages/bytes_cold");
  ShowOfPool<&Stats::bytes_mapped>("harena/pages/bytes_mapped");
  ShowOfPool<&Stats::bytes_huge_advised>("harena/pages/bytes_huge_advised");
  ShowOfPool<&Stats::bytes_decommitted>("harena/pages/bytes_decommitted");
  ShowOfPool<&Stats::blocks_allocated>("harena/pages/blocks_allocated");
  ShowOfPool<&Stats::blocks_freed>("harena/pages/blocks_freed");
  ShowOfPool<&Stats::blocks_moved>("harena/pages/blocks_moved");
  ShowOfPool<&Stats::regions_mapped>("harena/pages/regions_mapped");
  ShowOfPool<&Stats::regions_unmapped>("harena/pages/regions_unmapped");
  ShowOfPool<&Stats::refusals>("harena/pages/refusals");
  trpc_side::ShowVariable("harena/process/bytes_used",
                          []() -> uint64_t { return ProcessBudget().bytes_used(); });
  trpc_side::ShowVariable("harena/process/bytes_max", []() -> uint64_t {
    const size_t bytes_max = ProcessBudget().bytes_max();
    return bytes_max == kUnlimitedBytes ? 0 : bytes_max;
  });
  trpc_side::ShowVariable("harena/process/refusals",
                          []() -> uint64_t { return ProcessBudget().refusals(); });
  trpc_side::ShowVariable("harena/process/system_refusals",
                          []() -> uint64_t { return pb::SystemRefusals(); });
  trpc_side::ShowVariable("harena/process/unframed_overruns",
                          []() -> uint64_t { return pb::UnframedOverruns(); });
}

}  // namespace

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
