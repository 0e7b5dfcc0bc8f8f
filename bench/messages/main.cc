// The message-cost benchmark's program: one workload, one allocator (whatever is preloaded), the
// modes of its messages. bench/messages/run.py runs it for each combination and makes the tables.
#include <string>

#include <CLI/CLI.hpp>

#include "bench/messages/bounds.h"
#include "bench/messages/program.h"
#include "bench/messages/workload_traffic.h"

namespace harena::bench {
namespace {

struct Flags {
  std::string workload = "ranking_200k";
  std::string testdata = DefaultTestdata();
  size_t ranking_bytes = 0;
};

void Declare(CLI::App& app, Flags& flags) {
  auto* workload = app.add_option("--workload", flags.workload, "Workload name")
                       ->check(CLI::IsMember(WorkloadNames()))
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
  const MessageProgram program = {
      .name = "harena_bench_messages",
      .declare = [&](CLI::App& app) { Declare(app, flags); },
      .load =
          [&] {
            return MakeTraffic(flags.ranking_bytes != 0
                                   ? MakeRankingWorkload(flags.ranking_bytes)
                                   : LoadWorkload(flags.workload, flags.testdata));
          },
      .modes = MessageModes(kTypesCarryCodec),
      .other_modes = BoundModes()};
  return RunMessageProgram(program, argc, argv);
}
