#include "harena/mem/budget.h"

#include <cstdio>

#include "harena/base/check.h"

namespace harena {
namespace {

int Format(const Refusal& refusal, char* out, size_t out_bytes) noexcept {
  if (refusal.levels_max != 0) {
    return std::snprintf(out, out_bytes, "%s is %d levels, and the request nests deeper",
                         refusal.limit, refusal.levels_max);
  }
  if (refusal.ratio_max != 0) {
    return std::snprintf(out, out_bytes,
                         "%s is %g: %zu bytes on the wire may take %zu bytes (decoded_floor_bytes "
                         "is %zu), %zu are in use and %zu more were wanted",
                         refusal.limit, refusal.ratio_max, refusal.wire_bytes, refusal.bytes_max,
                         refusal.floor_bytes, refusal.bytes_used, refusal.bytes_wanted);
  }
  if (refusal.bytes_max == kUnlimitedBytes) {
    return std::snprintf(out, out_bytes, "out of memory: the system refused %zu bytes",
                         refusal.bytes_wanted);
  }
  return std::snprintf(out, out_bytes, "%s is %zu bytes: %zu are in use and %zu more were wanted",
                       refusal.limit, refusal.bytes_max, refusal.bytes_used, refusal.bytes_wanted);
}

}  // namespace

std::string Refusal::Message() const { return BudgetExceeded(*this).what(); }

BudgetExceeded::BudgetExceeded(const Refusal& refusal) noexcept : refusal_(refusal) {
  Format(refusal, message_, sizeof(message_));
}

bool Budget::TryCharge(size_t bytes, size_t slack_bytes, Refusal* refusal) noexcept {
  const size_t bytes_max = bytes_max_.load(std::memory_order_relaxed);
  const size_t ceiling =
      bytes_max > kUnlimitedBytes - slack_bytes ? kUnlimitedBytes : bytes_max + slack_bytes;
  // Not an addition that is taken back when it was too much: for that moment a giant's bytes would
  // make everybody else's small charge fail.
  size_t before = bytes_used_.load(std::memory_order_relaxed);
  while (HARENA_LIKELY(bytes <= ceiling && before <= ceiling - bytes)) {
    if (bytes_used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed)) {
      return true;
    }
  }
  refusals_.fetch_add(1, std::memory_order_relaxed);
  if (refusal != nullptr) {
    *refusal = {.limit = name_.load(std::memory_order_relaxed),
                .bytes_max = bytes_max,
                .bytes_used = before,
                .bytes_wanted = bytes};
  }
  return false;
}

void Budget::Refund(size_t bytes) noexcept {
  [[maybe_unused]] const size_t before = bytes_used_.fetch_sub(bytes, std::memory_order_relaxed);
  HARENA_DCHECK(before >= bytes, "Budget::Refund: more bytes come back than were charged");
}

Budget& ProcessBudget() noexcept {
  static auto& budget = *new Budget(kProcessBytesMax);
  return budget;
}

}  // namespace harena
