#include "harena/mem/quarantine.h"

#include <execinfo.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace harena {

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

ScopeEndFrame::ScopeEndFrame(std::string_view method, uint64_t scope_number) noexcept
    : outer_(current_) {
  end_.Note(method, scope_number);
  current_ = this;
}

}  // namespace harena
