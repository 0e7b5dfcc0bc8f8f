// Random sequences of pool operations against a model that knows which blocks are out.
#include <rapidcheck.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

enum class Kind { kAllocate, kFree, kFreeElsewhere, kFreeOnAnEndingThread, kAdvance, kTrim };

struct Operation {
  Kind kind;
  uint32_t number;  // a size, a choice of block, or milliseconds
};

void showValue(const Operation& operation, std::ostream& out) {
  static constexpr const char* kNames[] = {"Allocate",   "Free",    "FreeElsewhere",
                                           "FreeEnding", "Advance", "Trim"};
  out << kNames[static_cast<int>(operation.kind)] << "(" << operation.number << ")";
}

rc::Gen<Operation> AnyOperation() {
  return rc::gen::construct<Operation>(
      rc::gen::weightedElement<Kind>({{10, Kind::kAllocate},
                                      {6, Kind::kFree},
                                      {3, Kind::kFreeElsewhere},
                                      {1, Kind::kFreeOnAnEndingThread},
                                      {2, Kind::kAdvance},
                                      {1, Kind::kTrim}}),
      rc::gen::inRange<uint32_t>(0, 1'000'000));
}

constexpr size_t kPageBytes = 4 * kKiB;
constexpr size_t kBlockBytesMax = 64 * kKiB;

// One size in eight is too large for any class.
size_t SizeOf(uint32_t number) {
  const size_t limits[] = {1, 2, 4, 4, 8, 16, 16, 64};
  return 1 + number % (limits[number % 8] * kPageBytes);
}

class Model {
 public:
  explicit Model(const PagePoolOptions& options) : budget_("process_bytes_max"), options_(options) {
    options_.budget = &budget_;
    pool_.emplace(options_, source_);
  }
  ~Model() {  // after a failure: the pool must not die of it before RapidCheck has shrunk the case
    for (const auto& [begin, live] : live_) pool_->Free(begin, live.bytes);
  }

  void Apply(const Operation& operation) {
    switch (operation.kind) {
      case Kind::kAllocate:
        return Allocate(SizeOf(operation.number));
      case Kind::kFree:
        return Free(operation.number, [](auto work) { work(); });
      case Kind::kFreeElsewhere:
        return Free(operation.number, [this](auto work) { worker_.Run(work); });
      case Kind::kFreeOnAnEndingThread:
        return Free(operation.number, [](auto work) { std::thread(work).join(); });
      case Kind::kAdvance:
        test_now_ms += operation.number % 1500;
        pool_->Decay();
        return;
      case Kind::kTrim:
        pool_->Trim();
        RC_ASSERT(pool_->stats().bytes_retained == 0u);
        RC_ASSERT(pool_->stats().bytes_thread_cached == 0u);
        return;
    }
  }

  void Check() {
    const PagePoolStats stats = pool_->stats();
    RC_ASSERT(stats.bytes_in_use == live_bytes_);
    RC_ASSERT(stats.blocks_allocated - stats.blocks_freed == live_.size());
    RC_ASSERT(AddsUp(stats));
    RC_ASSERT(stats.bytes_retained <= options_.retained_bytes_max);
    RC_ASSERT(stats.bytes_thread_cached <= 2 * options_.thread_cache_bytes_max);
    RC_ASSERT(budget_.bytes_used() == stats.bytes_in_use + stats.bytes_thread_cached);
    RC_ASSERT(source_.mapped_bytes() == static_cast<int64_t>(stats.bytes_mapped));
  }

  void End() {
    while (!live_.empty()) Free(0, [](auto work) { work(); });
    pool_.reset();
    RC_ASSERT(source_.mapped_bytes() == 0);
    RC_ASSERT(budget_.bytes_used() == 0u);
  }

 private:
  struct Live {
    size_t bytes;
    uint64_t stamp;
  };

  bool NothingIsAt(char* begin, size_t bytes) const {
    const auto next = live_.lower_bound(begin);
    if (next != live_.end() && begin + bytes > next->first) return false;
    return next == live_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= begin;
  }

  void Allocate(size_t bytes) {
    const Block block = pool_->TryAllocate(bytes);
    RC_ASSERT(static_cast<bool>(block));
    RC_ASSERT(block.bytes >= bytes);
    RC_ASSERT(PagePool::OwnerOf(block.data) == &*pool_);
    char* begin = static_cast<char*>(block.data);
    RC_ASSERT(NothingIsAt(begin, block.bytes));
    live_.emplace(begin, Live{block.bytes, ++stamps_});
    live_bytes_ += block.bytes;
    Stamp(begin, block.bytes, stamps_);
  }

  template <typename Runner>
  void Free(uint32_t choice, Runner run) {
    if (live_.empty()) return;
    const auto block = std::next(live_.begin(), choice % live_.size());
    char* const begin = block->first;
    const Live live = block->second;
    RC_ASSERT(HasStamp(begin, live.bytes, live.stamp));
    run([this, begin, bytes = live.bytes] { pool_->Free(begin, bytes); });
    live_bytes_ -= live.bytes;
    live_.erase(block);
  }

  FailingPageSource source_;
  Budget budget_;
  PagePoolOptions options_;
  std::optional<PagePool> pool_;
  Worker worker_;
  std::map<char*, Live> live_;
  size_t live_bytes_ = 0;
  uint64_t stamps_ = 0;
};

void Run(const PagePoolOptions& options) {
  const auto operations = *rc::gen::container<std::vector<Operation>>(AnyOperation());
  Model model(options);
  for (const Operation& operation : operations) {
    model.Apply(operation);
    model.Check();
  }
  model.End();
}

PagePoolOptions SmallPool() {
  PagePoolOptions options = TestOptions();
  options.page_bytes = kPageBytes;
  options.block_bytes_max = kBlockBytesMax;
  options.thread_cache_bytes_max = 64 * kKiB;
  options.retained_bytes_max = 96 * kKiB;
  return options;
}

RC_GTEST_PROP(PagePoolModel, NoBlockIsHandedOutTwiceAndNoneIsLost, ()) { Run(SmallPool()); }

RC_GTEST_PROP(PagePoolModel, WithoutThreadCaches, ()) {
  PagePoolOptions options = SmallPool();
  options.thread_cache_bytes_max = 0;
  Run(options);
}

RC_GTEST_PROP(PagePoolModel, WithoutRetention, ()) {
  PagePoolOptions options = SmallPool();
  options.retained_bytes_max = 0;
  Run(options);
}

}  // namespace
}  // namespace harena
