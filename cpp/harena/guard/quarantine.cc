#include "harena/guard/quarantine.h"

#include <execinfo.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

// Programs with scopes have hardened pools too.
#include "harena/guard/hardening.h"

namespace harena {
namespace {

thread_local constinit const ScopeEnd* current_end = nullptr;

}  // namespace

void ScopeEnd::Note(std::string_view method, uint64_t scope_number) noexcept {
  const size_t length = std::min(method.size(), kNameBytesMax - 1);
  std::copy_n(method.begin(), length, name.begin());
  name[length] = '\0';
  number = scope_number;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  unix_ms = int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  thread = static_cast<pid_t>(syscall(SYS_gettid));
  frame_count = static_cast<uint32_t>(backtrace(frames.data(), kFramesMax));
}

ScopeEndFrame::ScopeEndFrame(const ScopeEnd& end) noexcept
    : outer_(std::exchange(current_end, &end)) {}

ScopeEndFrame::~ScopeEndFrame() { current_end = outer_; }

const ScopeEnd* ScopeEndFrame::Current() noexcept { return current_end; }

}  // namespace harena
