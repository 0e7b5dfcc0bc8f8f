// Random sequences of arena operations against a model that knows what is allocated.
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "harena/mem/arena.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

enum class Kind { kAllocate, kAllocateLarge, kCreate, kTakeRest, kResetAll, kResetKeepFirst };

struct Operation {
  Kind kind;
  uint32_t number;  // decides the size
  uint32_t alignment_log;
};

void showValue(const Operation& operation, std::ostream& out) {
  static constexpr const char* kNames[] = {"Allocate", "AllocateLarge", "Create",
                                           "TakeRest", "ResetAll",      "ResetKeepFirst"};
  out << kNames[static_cast<int>(operation.kind)] << "(" << operation.number << ", "
      << (1u << operation.alignment_log) << ")";
}

rc::Gen<Operation> AnyOperation() {
  return rc::gen::construct<Operation>(rc::gen::weightedElement<Kind>({{20, Kind::kAllocate},
                                                                       {3, Kind::kAllocateLarge},
                                                                       {6, Kind::kCreate},
                                                                       {2, Kind::kTakeRest},
                                                                       {1, Kind::kResetAll},
                                                                       {1, Kind::kResetKeepFirst}}),
                                       rc::gen::inRange<uint32_t>(0, 1'000'000),
                                       rc::gen::inRange<uint32_t>(0, 13));
}

struct Recorder {
  Recorder(std::vector<uint64_t>& ended, uint64_t number) : ended(&ended), number(number) {}
  ~Recorder() { ended->push_back(number); }
  std::vector<uint64_t>* ended;
  uint64_t number;
  char body[100] = {};
};

constexpr size_t kPageBytes = 4 * kKiB;

class Model {
 public:
  Model(const ArenaOptions& options, Budget& budget, Block first, size_t skip_bytes)
      : arena_(options, first, skip_bytes), budget_(&budget), given_(true) {}
  Model(const ArenaOptions& options, Budget& budget) : arena_(options), budget_(&budget) {}

  void Apply(const Operation& operation) {
    const size_t alignment = size_t{1} << operation.alignment_log;
    switch (operation.kind) {
      case Kind::kAllocate:
        return Allocate(operation.number % 600, alignment);
      case Kind::kAllocateLarge:
        return Allocate(operation.number % (40 * kPageBytes), alignment);
      case Kind::kCreate:
        return Create();
      case Kind::kTakeRest:
        return TakeRest(operation.number % 5000);
      case Kind::kResetAll:
        return Reset(Retain::kNothing);
      case Kind::kResetKeepFirst:
        return Reset(Retain::kFirstBlock);
    }
  }

  void Check() {
    const ArenaStats stats = arena_.stats();
    RC_ASSERT(stats.bytes_used == arena_.bytes_used());
    RC_ASSERT(stats.bytes_used >= live_bytes_);
    RC_ASSERT(stats.bytes_used <= live_bytes_ + overhead_bytes_max_);
    RC_ASSERT(stats.bytes_used <= stats.bytes_in_blocks);
    RC_ASSERT(stats.cleanups == made_.size());
    RC_ASSERT(stats.oversize_blocks <= stats.blocks);
    const size_t bytes_max = budget_->bytes_max();
    RC_ASSERT(budget_->bytes_used() - std::min(budget_->bytes_used(), bytes_max) <= kPageBytes);
    if (!given_) {
      RC_ASSERT(budget_->bytes_used() == stats.bytes_in_blocks);
    }
  }

  void Reset(Retain retain) {
    for (const auto& [begin, live] : live_) RC_ASSERT(HasStamp(begin, live.bytes, live.stamp));
    arena_.Reset(retain);
    RC_ASSERT(ended_ == std::vector<uint64_t>(made_.rbegin(), made_.rend()));
    RC_ASSERT(arena_.bytes_used() == 0u);
    RC_ASSERT(arena_.stats().blocks <= 1u);
    live_.clear();
    made_.clear();
    ended_.clear();
    live_bytes_ = overhead_bytes_max_ = 0;
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

  void Record(void* data, size_t bytes, size_t alignment, size_t overhead_bytes) {
    RC_ASSERT(reinterpret_cast<uintptr_t>(data) % alignment == 0u);
    // A gap; under ASan of 8 bytes at least, and a redzone.
    overhead_bytes_max_ += std::max<size_t>(alignment, 8) + 16 + overhead_bytes;
    live_bytes_ += bytes;
    if (bytes == 0) return;
    char* begin = static_cast<char*>(data);
    RC_ASSERT(NothingIsAt(begin, bytes));
    live_.emplace(begin, Live{bytes, ++stamps_});
    Stamp(begin, bytes, stamps_);
  }

  void Allocate(size_t bytes, size_t alignment) {
    Refusal refusal;
    void* data = arena_.TryAllocate(bytes, alignment, &refusal);
    if (data == nullptr) {
      RC_ASSERT(budget_->bytes_max() - std::min(budget_->bytes_max(), budget_->bytes_used()) <
                bytes + alignment + 64);  // refused only when it did not fit
      return;
    }
    Record(data, bytes, alignment, 0);
  }

  void Create() {
    const uint64_t number = ++stamps_;
    try {
      Recorder* recorder = arena_.Create<Recorder>(ended_, number);
      Record(recorder->body, sizeof(recorder->body), 1, 64 + sizeof(Recorder));
      made_.push_back(number);
    } catch (const BudgetExceeded&) {
      overhead_bytes_max_ += 64;  // the node may have been taken
    }
  }

  void TakeRest(size_t keep_bytes) {
    const std::span<std::byte> rest = arena_.TakeRest(keep_bytes);
    if (!rest.empty()) Record(rest.data(), rest.size(), Arena::kDefaultAlignment, 0);
    const size_t blocks = arena_.stats().blocks;
    if (rest.empty() || keep_bytes < 32) return;
    Allocate(keep_bytes - 32, 1);  // ASan's redzone takes some of it
    RC_ASSERT(arena_.stats().blocks == blocks);
  }

  Arena arena_;
  Budget* budget_;
  bool given_ = false;
  std::map<char*, Live> live_;
  std::vector<uint64_t> made_;
  std::vector<uint64_t> ended_;
  size_t live_bytes_ = 0;
  size_t overhead_bytes_max_ = 0;
  uint64_t stamps_ = 0;
};

void Run(Model& model) {
  const auto operations = *rc::gen::container<std::vector<Operation>>(AnyOperation());
  for (const Operation& operation : operations) {
    model.Apply(operation);
    model.Check();
  }
  model.Reset(Retain::kNothing);
}

PagePoolOptions SmallPool() {
  PagePoolOptions options = TestOptions();
  options.page_bytes = kPageBytes;
  options.block_bytes_max = 64 * kKiB;
  return options;
}

RC_GTEST_PROP(ArenaModel, NothingOverlapsAndEverythingEndsOnce, ()) {
  PagePool pool(SmallPool());
  Budget budget("request_bytes_max");
  {
    Model model({.pool = &pool, .budget = &budget, .block_bytes_max = 32 * kKiB}, budget);
    Run(model);
  }
  RC_ASSERT(budget.bytes_used() == 0u);
  RC_ASSERT(pool.stats().bytes_in_use == 0u);
}

RC_GTEST_PROP(ArenaModel, UnderABudget, ()) {
  PagePool pool(SmallPool());
  Budget budget("request_bytes_max", *rc::gen::inRange<size_t>(0, 400 * kKiB));
  {
    Model model({.pool = &pool, .budget = &budget}, budget);
    Run(model);
  }
  RC_ASSERT(budget.bytes_used() == 0u);
}

RC_GTEST_PROP(ArenaModel, InsideABlockOfTheCaller, ()) {
  PagePool pool(SmallPool());
  Budget budget("request_bytes_max");
  const Block first = pool.TryAllocate(*rc::gen::inRange<size_t>(1, 60 * kKiB));
  const auto give_back = [&pool, &first](void* data) { pool.Free(data, first.bytes); };
  const std::unique_ptr<void, decltype(give_back)> owner(first.data, give_back);
  const size_t skip_bytes = *rc::gen::inRange<size_t>(0, 100) * 8;
  Stamp(first.data, skip_bytes, 77);
  {
    Model model({.pool = &pool, .budget = &budget}, budget, first, skip_bytes);
    Run(model);
  }
  RC_ASSERT(HasStamp(first.data, skip_bytes, 77));
  RC_ASSERT(pool.stats().bytes_in_use == first.bytes);
}

}  // namespace
}  // namespace harena
