#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/load/load_report.h"
#include "bench/load/process_stats.h"
#include "bench/tools/alloc_count_reader.h"

namespace harena::bench {

/// A server process seen from outside while it is loaded, and what bench/demo/stats.py wants to
/// know of one stretch of load: CPU and memory of the server, CPU of this process, heap
/// allocations.
class ServerWatch {
 public:
  /// Begins now. `alloc_count_file` may be empty. Allocations of the thread `background_thread`, if
  /// that is not empty, are no request's and not counted. Throws std::runtime_error when the file
  /// is no counter file, or there is no such thread.
  ServerWatch(pid_t pid, const std::string& alloc_count_file,
              const std::string& background_thread = "");

  /// Ends: one JSON object with what was seen meanwhile and what `report` says.
  /// Throws std::runtime_error when the server is gone.
  nlohmann::json End(const LoadReport& warm_up, const LoadReport& report) const;

 private:
  const pid_t pid_;
  std::optional<AllocCountReader> allocations_;
  pid_t background_ = 0;
  AllocCounts allocated_before_;
  Memory memory_before_;
  double own_cpu_before_;
  double cpu_before_;
};

}  // namespace harena::bench
