#include "bench/load/process_stats.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace harena::bench {

bool PinTo(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  return sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

double CpuSeconds(pid_t pid) {
  clockid_t clock;
  timespec time = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

pid_t ThreadNamed(pid_t pid, const std::string& name) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::ifstream comm(entry.path() / "comm");
    std::string found;
    if (std::getline(comm, found) && found == name) return std::stoi(entry.path().filename());
  }
  return 0;
}

Memory MemoryOf(pid_t pid) {
  Memory memory;
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream statm(folder + "/statm");
  uint64_t pages_total = 0, pages_resident = 0;
  if (statm >> pages_total >> pages_resident) {
    memory.rss_bytes = pages_resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  std::ifstream status(folder + "/status");
  for (std::string word; status >> word;) {
    uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) memory.rss_peak_bytes = kilobytes * 1024;
  }
  return memory;
}

}  // namespace harena::bench
