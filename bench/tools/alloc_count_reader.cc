#include "bench/tools/alloc_count_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace harena::bench {

AllocCountReader::AllocCountReader(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  void* mapped = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0 && status.st_size == sizeof(AllocCountFile)) {
    mapped = mmap(nullptr, sizeof(AllocCountFile), PROT_READ, MAP_SHARED, file, 0);
  }
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) {
    throw std::runtime_error(path + " is not an allocation counter: start the server with " +
                             kAllocCountEnv + " and the preloaded counter");
  }
  file_ = static_cast<const AllocCountFile*>(mapped);
}

AllocCountReader::~AllocCountReader() {
  munmap(const_cast<AllocCountFile*>(file_), sizeof(AllocCountFile));
}

AllocCounts AllocCountReader::Read(pid_t left_out) const {
  AllocCounts sum;
  for (const AllocCountSlot& slot : file_->slots) {
    if (left_out != 0 && slot.thread.load() == static_cast<uint64_t>(left_out)) continue;
    sum.allocations += slot.allocations.load(std::memory_order_relaxed);
    sum.frees += slot.frees.load(std::memory_order_relaxed);
    sum.bytes += slot.bytes.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace harena::bench
