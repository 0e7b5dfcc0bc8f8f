// Races of hardened pools, for ThreadSanitizer; each runs for a moment in every build.
#include <thread>

#include <gtest/gtest.h>

#include "harena/guard/hardening.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_traffic.h"

namespace harena {
namespace {

// Wiping and marking write to blocks that are free: nobody else may see that half done.
TEST(HardenedPoolRace, DuringTraffic) {
  PagePoolOptions options = RestlessOptions();
  options.guard_pages = options.wipe_on_release = options.check_free_lists = true;
  PagePool pool(options);
  DuringTraffic(pool, [&] {
    pool.Decay();
    pool.Trim();
    std::this_thread::yield();
  });
}

}  // namespace
}  // namespace harena
