#include "tests/faults/failing_alloc.h"

#include <errno.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <new>

namespace harena::faults {
namespace {

thread_local constinit int64_t until_failure = 0;
thread_local constinit int64_t until_map_failure = 0;
thread_local constinit bool has_failed = false;
thread_local constinit bool inside = false;
thread_local constinit void* place[48];
thread_local constinit int place_frames = 0;
thread_local constinit bool spared = false;
std::atomic<Counts> counts{nullptr};
std::atomic<int64_t> until_counted_failure{0};
std::atomic<bool> has_failed_of{false};
std::atomic<bool> advice_fails{false};
std::atomic<int64_t> live{0};

// backtrace() loads a library when it is first called, and keeps it.
[[maybe_unused]] const int loaded = backtrace(place, 1);

// Remembers where it was.
void Fail() noexcept {
  has_failed = true;
  inside = true;
  place_frames = backtrace(place, static_cast<int>(std::size(place)));
  inside = false;
}

bool CountedFailsNow() noexcept {
  const Counts chosen = counts.load(std::memory_order_acquire);
  if (chosen == nullptr || spared) return false;
  inside = true;
  void* frames[48];
  const bool counted = chosen(frames, backtrace(frames, static_cast<int>(std::size(frames))));
  inside = false;
  if (!counted || until_counted_failure.fetch_sub(1) != 1) return false;
  has_failed_of.store(true);
  Fail();
  return true;
}

bool FailsNow(int64_t& until) noexcept {
  if (inside) return false;
  if (until == 0 || --until != 0) return CountedFailsNow();
  Fail();
  return true;
}

void PrintPlaceAndDie(int signal) {
  backtrace_symbols_fd(place, place_frames, STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void* Counted(void* data) noexcept {
  if (data != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void Uncount(const void* data) noexcept {
  if (data != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

void FailAllocation(int64_t n) noexcept {
  has_failed = false;
  until_failure = n;
}

void FailAllocationOf(Counts chosen, int64_t n) noexcept {
  counts.store(nullptr);
  has_failed_of.store(false);
  until_counted_failure.store(n);
  if (n != 0) counts.store(chosen, std::memory_order_release);
}

void FailMap(int64_t n) noexcept {
  has_failed = false;
  until_map_failure = n;
}

void FailAdvice(bool fail) noexcept { advice_fails.store(fail); }
bool HasFailed() noexcept { return has_failed; }
bool HasFailedOf() noexcept { return has_failed_of.load(); }
void SpareThisThread() noexcept { spared = true; }
int64_t LiveAllocations() noexcept { return live.load(); }
void PrintPlaceOnDeath() noexcept {
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, &PrintPlaceAndDie);
}

}  // namespace harena::faults

using harena::faults::Counted;
using harena::faults::FailsNow;
using harena::faults::Uncount;
using harena::faults::until_failure;
using harena::faults::until_map_failure;

// The C library's own, under the names that it keeps for replacements.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* data, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* data);

void* malloc(size_t bytes) {
  return FailsNow(until_failure) ? nullptr : Counted(__libc_malloc(bytes));
}
void* calloc(size_t count, size_t bytes) {
  return FailsNow(until_failure) ? nullptr : Counted(__libc_calloc(count, bytes));
}
void* realloc(void* data, size_t bytes) {
  if (FailsNow(until_failure)) return nullptr;
  void* moved = __libc_realloc(data, bytes);
  if (moved != nullptr) {
    Uncount(data);
    Counted(moved);
  }
  return moved;
}
void* memalign(size_t alignment, size_t bytes) {
  return FailsNow(until_failure) ? nullptr : Counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** data, size_t alignment, size_t bytes) {
  void* const fresh = memalign(alignment, bytes);
  if (fresh == nullptr) return ENOMEM;
  *data = fresh;
  return 0;
}
void free(void* data) {
  Uncount(data);
  __libc_free(data);
}

void* mmap(void* wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (FailsNow(until_map_failure)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, wish, bytes, protection, flags, file, offset));
}
int madvise(void* data, size_t bytes, int advice) {
  if (harena::faults::advice_fails.load()) {
    errno = ENOMEM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_madvise, data, bytes, advice));
}
}
