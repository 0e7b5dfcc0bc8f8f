#include "harena/base/log.h"

#include <atomic>
#include <cstdio>

namespace harena {
namespace {

void WriteToStandardError(Severity severity, std::string_view sentence) {
  std::fprintf(stderr, "harena: %s%.*s\n", severity == Severity::kWarning ? "warning: " : "",
               static_cast<int>(sentence.size()), sentence.data());
}

std::atomic<LogSink> current_sink{&WriteToStandardError};

}  // namespace

void SetLogSink(LogSink sink) noexcept {
  current_sink.store(sink != nullptr ? sink : &WriteToStandardError, std::memory_order_release);
}

void Log(Severity severity, std::string_view sentence) {
  current_sink.load(std::memory_order_acquire)(severity, sentence);
}

}  // namespace harena
