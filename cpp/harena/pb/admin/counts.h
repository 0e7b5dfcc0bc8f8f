// Numbers that frameworks show among their own variables, each by its name there.
#pragma once

#include <cstdint>

#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/arena/block_hooks.h"

namespace harena::pb {

/// A number of a subject, and its name.
template <typename Subject>
struct Count {
  const char* name;
  uint64_t (*get)(const Subject& subject);
};

/// A limit in bytes as a number; 0 for none.
inline uint64_t BytesOrZero(size_t bytes_max) noexcept {
  return bytes_max == kUnlimitedBytes ? 0 : bytes_max;
}

inline constexpr Count<PagePool> kPoolCounts[] = {
    {"bytes_in_use", [](const auto& p) -> uint64_t { return p.stats().bytes_in_use; }},
    {"bytes_thread_cached",
     [](const auto& p) -> uint64_t { return p.stats().bytes_thread_cached; }},
    {"bytes_retained", [](const auto& p) -> uint64_t { return p.stats().bytes_retained; }},
    {"bytes_cold", [](const auto& p) -> uint64_t { return p.stats().bytes_cold; }},
    {"bytes_mapped", [](const auto& p) -> uint64_t { return p.stats().bytes_mapped; }},
    {"bytes_huge_advised", [](const auto& p) -> uint64_t { return p.stats().bytes_huge_advised; }},
    {"bytes_decommitted", [](const auto& p) -> uint64_t { return p.stats().bytes_decommitted; }},
    {"blocks_allocated", [](const auto& p) -> uint64_t { return p.stats().blocks_allocated; }},
    {"blocks_freed", [](const auto& p) -> uint64_t { return p.stats().blocks_freed; }},
    {"blocks_moved", [](const auto& p) -> uint64_t { return p.stats().blocks_moved; }},
    {"regions_mapped", [](const auto& p) -> uint64_t { return p.stats().regions_mapped; }},
    {"regions_unmapped", [](const auto& p) -> uint64_t { return p.stats().regions_unmapped; }},
    {"refusals", [](const auto& p) -> uint64_t { return p.stats().refusals; }},
};

/// Of ProcessBudget(), and of the process besides.
inline constexpr Count<Budget> kProcessCounts[] = {
    {"bytes_used", [](const auto& b) -> uint64_t { return b.bytes_used(); }},
    {"bytes_max", [](const auto& b) -> uint64_t { return BytesOrZero(b.bytes_max()); }},
    {"refusals", [](const auto& b) -> uint64_t { return b.refusals(); }},
    {"system_refusals", [](const auto&) -> uint64_t { return SystemRefusals(); }},
    {"unframed_overruns", [](const auto&) -> uint64_t { return UnframedOverruns(); }},
};

}  // namespace harena::pb
