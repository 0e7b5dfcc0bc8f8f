// protobuf's log in tests: its own facility in 3.21, Abseil's in newer releases.
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#else
#include <absl/base/log_severity.h>
#include <absl/log/globals.h>
#include <absl/log/log_entry.h>
#include <absl/log/log_sink.h>
#include <absl/log/log_sink_registry.h>
#endif

namespace harena::pb::codec::test {

#if GOOGLE_PROTOBUF_VERSION < 4022000

/// While it stands, errors in input are not printed.
using SilentLog = google::protobuf::LogSilencer;

/// The log lines of `action`. Thread rule: one at a time.
template <typename Action>
std::vector<std::string> LogOf(Action action) {
  static std::vector<std::string> lines;
  lines.clear();
  google::protobuf::LogHandler* const outer =
      google::protobuf::SetLogHandler([](google::protobuf::LogLevel, const char*, int,
                                         const std::string& message) { lines.push_back(message); });
  action();
  google::protobuf::SetLogHandler(outer);
  return lines;
}

#else

class SilentLog {
 private:
  const absl::ScopedStderrThreshold nothing_{absl::LogSeverityAtLeast::kInfinity};
};

template <typename Action>
std::vector<std::string> LogOf(Action action) {
  struct Sink : absl::LogSink {
    void Send(const absl::LogEntry& entry) override { lines.emplace_back(entry.text_message()); }
    std::vector<std::string> lines;
  } sink;
  absl::AddLogSink(&sink);
  action();
  absl::RemoveLogSink(&sink);
  return sink.lines;
}

#endif

}  // namespace harena::pb::codec::test
