// The message-cost benchmark's program: one workload, one allocator (whatever is preloaded), the
// modes of its messages. bench/messages/run.py runs it for each combination and makes the tables.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/messages/bounds.h"
#include "bench/messages/program.h"
#include "bench/messages/small_traffic.h"
#include "bench/messages/workload_traffic.h"

namespace harena::bench {
namespace {

struct Flags {
  std::string workload = "ranking_200k";
  std::string testdata = DefaultTestdata();
  size_t ranking_bytes = 0;
};

std::vector<std::string> Names() {
  std::vector<std::string> names = WorkloadNames();
  for (std::string& name : SmallNames()) names.push_back(std::move(name));
  return names;
}

std::unique_ptr<Traffic> Load(const Flags& flags) {
  if (flags.ranking_bytes != 0) return MakeTraffic(MakeRankingWorkload(flags.ranking_bytes));
  if (auto small = MakeSmallTraffic(flags.workload)) return small;
  return MakeTraffic(LoadWorkload(flags.workload, flags.testdata));
}

void Declare(CLI::App& app, Flags& flags) {
  auto* workload = app.add_option("--workload", flags.workload, "Workload name")
                       ->check(CLI::IsMember(Names()))
                       ->capture_default_str();
  app.add_option("--ranking-bytes", flags.ranking_bytes,
                 "Instead of a workload: one ranking request of about this size")
      ->check(CLI::PositiveNumber)
      ->excludes(workload);
  app.add_option("--testdata", flags.testdata, "Folder of the payloads");
}

}  // namespace
}  // namespace harena::bench

int main(int argc, char** argv) {
  using namespace harena::bench;
  Flags flags;
  const MessageProgram program = {.name = "harena_bench_messages",
                                  .declare = [&](CLI::App& app) { Declare(app, flags); },
                                  .load = [&] { return Load(flags); },
                                  .modes = MessageModes(kTypesCarryCodec),
                                  .other_modes = BoundModes()};
  return RunMessageProgram(program, argc, argv);
}
