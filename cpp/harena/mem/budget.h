// A limit on bytes, and what is said when it is reached.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

namespace harena {

inline constexpr size_t kUnlimitedBytes = std::numeric_limits<size_t>::max();

/// Names of limits, as options, statistics and messages have them.
inline constexpr char kRequestBytesMax[] = "request_bytes_max";
inline constexpr char kProcessBytesMax[] = "process_bytes_max";
inline constexpr char kDecodedRatioMax[] = "decoded_ratio_max";
inline constexpr char kDepthMax[] = "depth_max";

/// Why memory was refused. `limit` is the option's name, one of those above, or "memory" when the
/// system itself had none.
struct Refusal {
  const char* limit = "memory";
  size_t bytes_max = kUnlimitedBytes;
  size_t bytes_used = 0;
  size_t bytes_wanted = 0;
  // The rest is for single limits.
  double ratio_max = 0;    ///< decoded_ratio_max: its value,
  size_t floor_bytes = 0;  ///< and decoded_floor_bytes',
  size_t wire_bytes = 0;   ///< and the size of the request that it was applied to.
  int levels_max = 0;      ///< depth_max: its value.

  /// One sentence: the limit, its value, what was in use and what was wanted.
  std::string Message() const;
};

/// Thrown by the calls that cannot return a value (Arena::Allocate, pmr, protobuf's block hook).
/// It is a std::bad_alloc, so code that survives that survives this.
class BudgetExceeded : public std::bad_alloc {
 public:
  explicit BudgetExceeded(const Refusal& refusal) noexcept;
  const char* what() const noexcept override { return message_; }
  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  Refusal refusal_;
  char message_[320];  // No allocation while reporting that there is no memory.
};

/// What was refused: of a BudgetExceeded what it says, of any other bad_alloc that the system had
/// no memory.
inline Refusal RefusalOf(const std::bad_alloc& exception) noexcept {
  const auto* const exceeded = dynamic_cast<const BudgetExceeded*>(&exception);
  return exceeded != nullptr ? exceeded->refusal() : Refusal();
}

/// Bytes taken against a limit. Never more than the limit, and a charge that fits is not refused
/// because of another one that does not (cpp/tests/models/budget.pml).
/// Thread rule: any thread.
class Budget {
 public:
  /// `name` is the option the limit comes from, for messages; it must be a literal.
  explicit Budget(const char* name, size_t bytes_max = kUnlimitedBytes,
                  size_t bytes_used = 0) noexcept
      : name_(name), bytes_max_(bytes_max), bytes_used_(bytes_used) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Takes `bytes`, or nothing when they do not fit. `slack_bytes` of them may go over the limit:
  /// what is only the rounding up to a whole page. On false, `*refusal` says why.
  [[nodiscard]] bool TryCharge(size_t bytes, size_t slack_bytes = 0,
                               Refusal* refusal = nullptr) noexcept;

  /// Takes `bytes` whatever the limit says: for memory that is there already.
  void ForceCharge(size_t bytes) noexcept {
    bytes_used_.fetch_add(bytes, std::memory_order_relaxed);
  }

  /// REQUIRES: `bytes` were charged before.
  void Refund(size_t bytes) noexcept;

  size_t bytes_used() const noexcept { return bytes_used_.load(std::memory_order_relaxed); }
  size_t bytes_max() const noexcept { return bytes_max_.load(std::memory_order_relaxed); }
  bool limited() const noexcept { return bytes_max() != kUnlimitedBytes; }
  /// Takes effect with the next charge.
  void set_bytes_max(size_t bytes) noexcept { bytes_max_.store(bytes, std::memory_order_relaxed); }
  /// Charges refused since the start.
  uint64_t refusals() const noexcept { return refusals_.load(std::memory_order_relaxed); }

 private:
  friend class BudgetCeiling;

  std::atomic<const char*> name_;
  std::atomic<size_t> bytes_max_;
  std::atomic<size_t> bytes_used_;
  std::atomic<uint64_t> refusals_{0};
};

/// While it stands, a budget grants no more than `bytes_max` in all, and says so in the name of
/// another limit. It never raises what the budget grants by itself.
/// Thread rule: nobody else sets the budget's limit meanwhile; charges may come from any thread.
/// Lifetime rule: ends before its budget. They nest.
class BudgetCeiling {
 public:
  /// `name` must be a literal.
  BudgetCeiling(Budget& budget, const char* name, size_t bytes_max) noexcept
      : budget_(budget),
        name_before_(budget.name_.load(std::memory_order_relaxed)),
        bytes_max_before_(budget.bytes_max()) {
    if (bytes_max >= bytes_max_before_) return;
    budget.name_.store(name, std::memory_order_relaxed);
    budget.set_bytes_max(bytes_max);
  }
  ~BudgetCeiling() {
    budget_.name_.store(name_before_, std::memory_order_relaxed);
    budget_.set_bytes_max(bytes_max_before_);
  }
  BudgetCeiling(const BudgetCeiling&) = delete;
  BudgetCeiling& operator=(const BudgetCeiling&) = delete;

 private:
  Budget& budget_;
  const char* const name_before_;
  const size_t bytes_max_before_;
};

/// The budget of the whole process, `process_bytes_max`: unlimited until set_bytes_max() is called.
/// It counts the blocks that page pools have handed to threads, and what protobuf arenas take.
Budget& ProcessBudget() noexcept;
/// Whether anything bounds a request that has this budget: its own limit, or the process's.
inline bool IsBounded(const Budget& request) noexcept {
  return request.limited() || ProcessBudget().limited();
}

}  // namespace harena
