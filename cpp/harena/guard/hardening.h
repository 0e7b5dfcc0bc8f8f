// Hardened pools, which fence their blocks, wipe them, and look for what must not be.
#pragma once

#include "harena/mem/page_guard.h"
#include "harena/mem/page_pool.h"

namespace harena::guard {

/// A program that includes this header can harden its pools, also where it calls nothing of this
/// library: the pools alone do not have the linker take MakePageGuard() out of it. Scopes do.
[[gnu::used]] inline constexpr auto* kMakePageGuard = &MakePageGuard;

/// A second pool of the process, with PagePoolOptions::Hardened(); made on first use, never
/// destroyed. For the methods whose memory has to be: Options::page_pool.
PagePool& HardenedPool();

}  // namespace harena::guard
