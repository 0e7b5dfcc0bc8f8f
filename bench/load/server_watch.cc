#include "bench/load/server_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace harena::bench {
namespace {

nlohmann::json LatenciesOf(const LoadReport& report) {
  nlohmann::json latencies = nlohmann::json::array();
  for (const double us : report.latencies_us) latencies.push_back(std::round(us * 10) / 10);
  return latencies;
}

}  // namespace

ServerWatch::ServerWatch(pid_t pid, const std::string& alloc_count_file,
                         const std::string& background_thread)
    : pid_(pid) {
  if (!alloc_count_file.empty()) {
    allocations_.emplace(alloc_count_file);
    if (!background_thread.empty()) background_ = ThreadNamed(pid_, background_thread);
    if (!background_thread.empty() && background_ == 0) {
      throw std::runtime_error("the server has no thread " + background_thread);
    }
    allocated_before_ = allocations_->Read(background_);
  }
  memory_before_ = MemoryOf(pid_);
  own_cpu_before_ = CpuSeconds(getpid());
  cpu_before_ = CpuSeconds(pid_);
}

nlohmann::json ServerWatch::End(const LoadReport& warm_up, const LoadReport& report) const {
  const double cpu_after = CpuSeconds(pid_);
  const double own_cpu_after = CpuSeconds(getpid());
  const AllocCounts allocated = allocations_ ? allocations_->Read(background_) : AllocCounts{};
  const Memory memory = MemoryOf(pid_);
  if (cpu_before_ < 0 || cpu_after < 0) throw std::runtime_error("the server has ended");

  nlohmann::json result = {
      {"qps", report.Qps()},
      {"seconds", report.seconds},
      {"requests", report.requests},
      {"warm_up_requests", warm_up.requests},
      {"errors", report.Errors() + warm_up.Errors()},
      {"errors_status", report.errors_status + warm_up.errors_status},
      {"errors_reply", report.errors_reply + warm_up.errors_reply},
      {"first_error", warm_up.first_error.empty() ? report.first_error : warm_up.first_error},
      {"send_lag_us", {{"p99", report.send_lag_us_p99}, {"max", report.send_lag_us_max}}},
      {"server_cpu_seconds", cpu_after - cpu_before_},
      {"loader_cpu_seconds", own_cpu_after - own_cpu_before_},
      {"rss_before_bytes", memory_before_.rss_bytes},
      {"rss_bytes", memory.rss_bytes},
      {"rss_peak_bytes", memory.rss_peak_bytes},
      {"latencies_us", LatenciesOf(report)}};
  if (allocations_) {
    const auto requests = static_cast<double>(std::max<uint64_t>(report.requests, 1));
    const auto per_request = [&](uint64_t before, uint64_t after) {
      return static_cast<double>(after - before) / requests;
    };
    result["heap_allocs_per_request"] =
        per_request(allocated_before_.allocations, allocated.allocations);
    result["heap_frees_per_request"] = per_request(allocated_before_.frees, allocated.frees);
    result["heap_bytes_per_request"] = per_request(allocated_before_.bytes, allocated.bytes);
  }
  return result;
}

}  // namespace harena::bench
