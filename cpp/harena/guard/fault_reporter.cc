#include "harena/guard/fault_reporter.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <mutex>
#include <string_view>

#include "harena/base/fork_mutex.h"
#include "harena/guard/quarantine.h"

namespace harena {
namespace {

constexpr int kFramesMax = 24;

std::atomic<uint64_t> faults_reported{0};
// Written before the handler can run, once: the handler reads it.
struct sigaction previous_action = {};

// Text for standard error. Nothing here allocates or locks: it runs in a signal handler.
class Writer {
 public:
  ~Writer() { Flush(); }

  Writer& operator<<(std::string_view text) noexcept {
    for (const char character : text) Put(character);
    return *this;
  }
  Writer& operator<<(uint64_t number) noexcept { return Number(number, 10, 1); }
  Writer& Hex(const void* address) noexcept {
    return (*this << "0x").Number(reinterpret_cast<uintptr_t>(address), 16, 1);
  }
  Writer& Number(uint64_t number, int base, size_t digits_min) noexcept {
    std::array<char, 20> digits;
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
    const auto count = static_cast<size_t>(result.ptr - digits.data());
    for (size_t i = count; i < digits_min; ++i) Put('0');
    return *this << std::string_view(digits.data(), count);
  }
  void Flush() noexcept {
    size_t done = 0;
    while (done < used_) {
      const ssize_t written = write(STDERR_FILENO, text_.data() + done, used_ - done);
      if (written < 0 && errno != EINTR) break;
      if (written > 0) done += static_cast<size_t>(written);
    }
    used_ = 0;
  }

 private:
  void Put(char character) noexcept {
    if (used_ == text_.size()) Flush();
    text_[used_++] = character;
  }

  std::array<char, 512> text_;
  size_t used_ = 0;
};

// "2026-11-22 07:31:02.114 UTC"; gmtime() may lock.
void PutTime(Writer& out, int64_t unix_ms) noexcept {
  const std::chrono::sys_time<std::chrono::milliseconds> time(std::chrono::milliseconds{unix_ms});
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto put = [&out](auto number, size_t digits, std::string_view behind) {
    out.Number(static_cast<uint64_t>(number), 10, digits) << behind;
  };
  put(static_cast<int>(date.year()), 4, "-");
  put(static_cast<unsigned>(date.month()), 2, "-");
  put(static_cast<unsigned>(date.day()), 2, " ");
  put(clock.hours().count(), 2, ":");
  put(clock.minutes().count(), 2, ":");
  put(clock.seconds().count(), 2, ".");
  put(clock.subseconds().count(), 3, " UTC");
}

// One line each: what addr2line needs, and the symbol where the module exports one.
void PutFrames(Writer& out, void* const* frames, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    (out << "    ").Hex(frames[i]);
    Dl_info info;
    if (dladdr(frames[i], &info) != 0 && info.dli_fname != nullptr) {
      const auto offset = static_cast<char*>(frames[i]) - static_cast<char*>(info.dli_fbase);
      (out << " " << info.dli_fname << "+").Hex(reinterpret_cast<void*>(offset));
      if (info.dli_sname != nullptr) out << " " << info.dli_sname;
    }
    out << "\n";
  }
}

const char* KindOfAccess([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  // Bit 1 of the page fault's error code.
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  return (machine->gregs[REG_ERR] & 2) != 0 ? "write" : "read";
#else
  return "access";
#endif
}

const char* WhatHappened(FaultyAddress::Kind kind) noexcept {
  if (kind == FaultyAddress::Kind::kBeyondEnd) return " behind the end of a scope's memory";
  if (kind == FaultyAddress::Kind::kGuard) return " outside of a block: a guard page was hit";
  return " after the end of a scope";
}

void PutEnded(Writer& out, const FaultyAddress& found) noexcept {
  const ScopeEnd& end = *found.end;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t ago_ms = int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000 - end.unix_ms;
  out << found.offset << " bytes into a block of " << found.block_bytes << "\n";
  if (end.number == 0) {
    out << "  the block went back before its scope ended (an arena's Reset)\n";
  } else {
    out << "  scope " << end.number << " of "
        << (end.name[0] == '\0' ? "a pool without a name" : end.name.data()) << "\n";
  }
  out << "  ended " << static_cast<uint64_t>(ago_ms > 0 ? ago_ms : 0) << " ms ago, at ";
  PutTime(out, end.unix_ms);
  out << ", on thread " << static_cast<uint64_t>(end.thread) << ", here:\n";
  PutFrames(out, end.frames.data(), static_cast<int>(end.frame_count));
}

void Report(const void* address, const FaultyAddress& found, const void* context) noexcept {
  Writer out;
  const char* const access = KindOfAccess(context);
  out << "harena: FAULT: " << access << WhatHappened(found.kind);
  (out << "\n  address ").Hex(address) << ", ";
  if (found.kind == FaultyAddress::Kind::kEnded) {
    PutEnded(out, found);
  } else if (found.block_bytes == 0) {
    out << "before the first block of a region\n";
  } else {
    const bool sampled = found.kind == FaultyAddress::Kind::kBeyondEnd;
    out << found.offset - found.block_bytes << " bytes behind a block of " << found.block_bytes
        << (sampled ? " that a sampled scope holds\n" : "\n");
  }
  out << "  the " << access << ", on thread " << static_cast<uint64_t>(syscall(SYS_gettid))
      << ", here:\n";
  std::array<void*, kFramesMax> frames;
  PutFrames(out, frames.data(), backtrace(frames.data(), kFramesMax));
}

// What would have happened without us.
void CallPrevious(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& previous = previous_action;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The instruction runs once more and dies where it stands, with the core dump it would have
    // made. A signal that was sent by somebody comes once.
    sigaction(signal, &previous, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

void OnFault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code > 0) {
    const FaultyAddress found = ExplainAddress(info->si_addr);
    if (found.kind != FaultyAddress::Kind::kUnknown) {
      // One report at a time: a second thread must not kill the process in the middle of the first.
      static std::atomic<bool> reporting{false};
      constexpr timespec kMoment = {0, 10'000'000};
      for (int i = 0; i < 200 && reporting.exchange(true); ++i) nanosleep(&kMoment, nullptr);
      Report(info->si_addr, found, context);
      faults_reported.fetch_add(1, std::memory_order_relaxed);
      reporting.store(false);
    }
  }
  errno = saved_errno;
  CallPrevious(signal, info, context);
}

}  // namespace

bool InstallFaultReporter() noexcept {
  static NeverDestroyed<ForkMutex> mutex;
  static bool installed = false;  // guarded by it
  std::lock_guard lock(*mutex);
  // Once: a handler that replaced ours may call it, and calling that one back would never end.
  if (installed) return FaultReporterInstalled();
  // The first backtrace loads the unwinder, which a signal handler must not do.
  void* frame = nullptr;
  backtrace(&frame, 1);
  struct sigaction current = {};
  if (sigaction(SIGSEGV, nullptr, &current) != 0) return false;
  previous_action = current;
  struct sigaction action = {};
  action.sa_sigaction = &OnFault;
  // On the thread's alternate stack where it has one: handlers before ours may count on that.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  installed = sigaction(SIGSEGV, &action, nullptr) == 0;
  return installed;
}

bool FaultReporterInstalled() noexcept {
  struct sigaction current = {};
  return sigaction(SIGSEGV, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
         current.sa_sigaction == &OnFault;
}

uint64_t FaultsReported() noexcept { return faults_reported.load(std::memory_order_relaxed); }

}  // namespace harena
