// A process whom the system allows little more memory than its process budget: it works, refuses,
// and is never killed. The system's limit is a cgroup's where this test may make one, and
// RLIMIT_DATA in any case.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/test/wide.pb.h"
#include "tests/faults/one_request.h"
#include "tests/safety_count.h"

namespace harena::faults {
namespace {

constexpr size_t kSystemBytes = 96 * kMiB;
constexpr size_t kProcessBytes = 64 * kMiB;

bool Write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  return out.good();
}

// A cgroup of ours with a limit on memory; its folder, or why there is none.
class Cgroup {
 public:
  Cgroup() {
    const std::string name = "/harena_test_" + std::to_string(getpid());
    // Version 1 has a hierarchy for memory; version 2 one for everything.
    if (Make("/sys/fs/cgroup/memory" + name, "/memory.limit_in_bytes")) return;
    Make("/sys/fs/cgroup" + name, "/memory.max");
  }
  ~Cgroup() {
    if (!folder_.empty()) rmdir(folder_.c_str());
  }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& folder() const { return folder_; }
  const std::string& why_not() const { return why_not_; }

 private:
  bool Make(const std::string& folder, const std::string& limit) {
    if (mkdir(folder.c_str(), 0755) != 0) {
      why_not_ += folder + ": " + std::strerror(errno) + "; ";
      return false;
    }
    if (!Write(folder + limit, std::to_string(kSystemBytes))) {
      why_not_ += folder + limit + " cannot be set; ";
      rmdir(folder.c_str());
      return false;
    }
    folder_ = folder;
    return true;
  }

  std::string folder_;
  std::string why_not_;
};

struct Counts {
  uint64_t bombs = 0;
  uint64_t refused = 0;
  uint64_t served = 0;
  uint64_t wrongly_refused = 0;
};

// As many requests at once as there is memory for, each of them a bomb; then honest ones.
void Besiege(PagePool& pool, Mode mode, Counts& counts) {
  ScopePool scopes({.mode = mode, .page_pool = &pool});
  for (const size_t messages : {2000, 200, 20'000, 2000}) {
    const std::string bomb = pb::test::WideBomb(messages);  // at most 40 KB of wire, and many MiB
    std::vector<Scope> in_flight;
    for (int i = 0; i < 60; ++i) {
      ++counts.bombs;
      std::optional<Scope> scope = scopes.TryAcquire();
      if (!scope) {
        ++counts.refused;
        continue;
      }
      const auto parsed = pb::ParseFrozen<harena::test::WideList>(*scope, bomb);
      counts.refused += parsed.result.status == pb::ParseStatus::kRefused;
      in_flight.push_back(std::move(*scope));
    }
  }
  // They have ended: all is as before.
  Echo echo(pool, mode);
  const std::string wire = ShapesWire(20);
  for (int i = 0; i < 20; ++i) {
    (echo.Serve(wire) == Outcome::kServed ? counts.served : counts.wrongly_refused)++;
  }
}

// Bytes of the process's own writable memory now, which is what RLIMIT_DATA bounds.
size_t DataBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  size_t kib = 0;
  while (status >> word) {
    if (word == "VmData:" && status >> kib) return kib * kKiB;
  }
  return 0;
}

bool LimitByCgroup(const std::string& folder) {
  return Write(folder + "/cgroup.procs", std::to_string(getpid()));
}
bool LimitByRlimit(const std::string&) {
  const size_t data_bytes = DataBytes();
  const rlimit limit = {data_bytes + kSystemBytes, data_bytes + kSystemBytes};
  return data_bytes != 0 && setrlimit(RLIMIT_DATA, &limit) == 0;
}
using Limit = bool (*)(const std::string& folder);

[[noreturn]] void LiveInside(Limit limit, const std::string& folder, Mode mode, int answer) {
  if (!limit(folder)) _exit(2);
  ProcessBudget().set_bytes_max(kProcessBytes);
  Counts counts;
  {
    PagePool pool;
    Besiege(pool, mode, counts);
  }
  const bool written = write(answer, &counts, sizeof(counts)) == sizeof(counts);
  // The codec's serializer keeps a block of this thread, of the process's pool.
  const PagePoolStats kept = PagePool::Default().stats();
  _exit(written && ProcessBudget().bytes_used() == kept.bytes_in_use + kept.bytes_thread_cached
            ? 0
            : 3);
}

void ExpectItLives(Limit limit, const std::string& folder, Mode mode) {
  int answer[2];
  ASSERT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) LiveInside(limit, folder, mode, answer[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  SafetyCount("processes_lost", status != 0);
  EXPECT_FALSE(WIFSIGNALED(status)) << "killed by signal " << WTERMSIG(status);
  ASSERT_EQ(status, 0);
  Counts counts;
  ASSERT_EQ(read(answer[0], &counts, sizeof(counts)), static_cast<ssize_t>(sizeof(counts)));
  close(answer[0]);
  close(answer[1]);
  EXPECT_GT(counts.refused, 0u);
  EXPECT_LT(counts.refused, counts.bombs);
  EXPECT_GT(counts.served, 0u);
  EXPECT_EQ(counts.wrongly_refused, 0u);
  SafetyCount("faults_injected", 1);
  SafetyCount("inputs_tried", counts.bombs);
  SafetyCount("budgets_refused", counts.refused);
  SafetyCount("requests_served", counts.served);
  SafetyCount("requests_wrongly_refused", counts.wrongly_refused);
}

class MemoryLimit : public testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, MemoryLimit,
                         testing::Values(Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_P(MemoryLimit, OfTheProcessCloseToItsBudget) { ExpectItLives(&LimitByRlimit, "", GetParam()); }

TEST_P(MemoryLimit, OfTheCgroupCloseToTheProcessBudget) {
  const Cgroup cgroup;
  if (!cgroup.folder().empty()) return ExpectItLives(&LimitByCgroup, cgroup.folder(), GetParam());
  std::printf("NO CGROUP can be made here (%s); RLIMIT_DATA in its place\n",
              cgroup.why_not().c_str());
  ExpectItLives(&LimitByRlimit, "", GetParam());
}

}  // namespace
}  // namespace harena::faults
