// What each protection costs: the same requests served (parsed, answered by the workload's handler,
// serialized) with one protection after the other, in turn within each round, on one thread. Prints
// one table of CPU time; the second column without any shows how far chance alone goes.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/workloads/workloads.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope_pool.h"

namespace harena::bench {
namespace {

constexpr size_t kSmallBytes = 2048;
constexpr std::string_view kLarge = "ranking_200k_one";
constexpr std::array kModes = {Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec};

struct Protection {
  std::string_view name;
  bool quarantine, guard, wipe, check;
};
constexpr std::array kProtections = {
    Protection{"off", false, false, false, false},
    Protection{"off again", false, false, false, false},
    Protection{"sampled", true, false, false, false},
    Protection{"guard_pages", false, true, false, false},
    Protection{"wipe_on_release", false, false, true, false},
    Protection{"check_free_lists", false, false, false, true},
    Protection{"all hardening", false, true, true, true},
};
constexpr size_t kOff = 0;
constexpr size_t kSampled = 2;

double CpuNs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

PagePoolOptions PoolOptions(const Protection& protection) {
  PagePoolOptions options;
  options.guard_pages = protection.guard;
  options.wipe_on_release = protection.wipe;
  options.check_free_lists = protection.check;
  return options;
}

// One method of a server, without the server.
class Server {
 public:
  Server(PagePool& pool, Mode mode, const Protection& protection)
      : scopes_({.mode = mode,
                 .quarantine_one_in = size_t{protection.quarantine ? 1u : 0u},
                 .page_pool = &pool}),
        keeper_(RankMethod::Request::default_instance(), RankMethod::Response::default_instance(),
                scopes_.options()) {}

  void Serve(const std::string& wire) {
    Scope scope = scopes_.Acquire();
    if (scope.mode() == Mode::kReuse) {
      const pb::MessageKeeper::Pair pair = keeper_.Take(scope);
      auto& request = static_cast<RankMethod::Request&>(*pair.request);
      Expect(static_cast<bool>(pb::Parse(scope, wire, request)));
      Answer(request, static_cast<RankMethod::Response*>(pair.response));
      return;
    }
    const auto request = pb::ParseFrozen<RankMethod::Request>(scope, wire);
    Expect(static_cast<bool>(request));
    Answer(*request.message, scope.CreateMessage<RankMethod::Response>());
  }

 private:
  static void Expect(bool parsed) {
    if (parsed) return;
    std::fputs("harena_bench_safety: a request does not parse\n", stderr);
    std::exit(1);
  }
  void Answer(const RankMethod::Request& request, RankMethod::Response* response) {
    RankMethod::Handle(request, response);
    sent_.resize(response->ByteSizeLong());
    auto* const bytes = reinterpret_cast<uint8_t*>(sent_.data());
    static_cast<void>(response->SerializeWithCachedSizesToArray(bytes));
  }

  ScopePool scopes_;
  pb::MessageKeeper keeper_;
  std::string sent_;
};

struct Cell {
  std::unique_ptr<Server> server;
  std::vector<double> ns;  // per request, one number a round
};

struct Row {
  std::string name;
  Workload workload;
  std::array<Cell, kProtections.size()> cells;
};

double RunFor(Server& server, const Workload& workload, double slice_ns) {
  const double begin = CpuNs();
  double requests = 0;
  double spent = 0;
  do {
    for (const std::string& wire : workload.requests) server.Serve(wire);
    requests += static_cast<double>(workload.requests.size());
    spent = CpuNs() - begin;
  } while (spent < slice_ns);
  return spent / requests;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The median of what each round says: a machine that changes its speed changes it for both.
double Ratio(const Row& row, size_t protection) {
  std::vector<double> ratios;
  for (size_t i = 0; i < row.cells[kOff].ns.size(); ++i) {
    ratios.push_back(row.cells[protection].ns[i] / row.cells[kOff].ns[i]);
  }
  return Median(std::move(ratios));
}

void PrintTable(const std::vector<Row>& rows) {
  const auto one_in = static_cast<double>(Options().quarantine_one_in);
  std::printf("| payload, mode | off |");
  for (size_t i = 1; i < kProtections.size(); ++i) {
    if (i == kSampled) {
      std::printf(" quarantine, every scope | so 1 in %.0f |", one_in);
    } else {
      std::printf(" %s |", std::string(kProtections[i].name).c_str());
    }
  }
  std::printf("\n|---|---|");
  for (size_t i = 0; i < kProtections.size(); ++i) std::printf("---|");
  for (const Row& row : rows) {
    std::printf("\n| %s | %.1f us |", row.name.c_str(), Median(row.cells[kOff].ns) / 1000);
    for (size_t i = 1; i < kProtections.size(); ++i) {
      const double more = Ratio(row, i) - 1;
      std::printf(" %+.1f %% |", 100 * more);
      if (i == kSampled) std::printf(" %+.2f %% |", 100 * more / one_in);
    }
  }
  std::printf("\n");
}

std::vector<Row> MakeRows(std::vector<std::unique_ptr<PagePool>>& pools) {
  std::vector<Row> rows;
  for (const bool large : {false, true}) {
    for (const Mode mode : kModes) {
      Row& row = rows.emplace_back();
      row.workload = large ? LoadWorkload(kLarge) : MakeRankingWorkload(kSmallBytes);
      row.name = std::string(large ? "200 KB, " : "2 KB, ") + std::string(ToString(mode));
      for (size_t i = 0; i < kProtections.size(); ++i) {
        row.cells[i].server = std::make_unique<Server>(*pools[i], mode, kProtections[i]);
      }
    }
  }
  return rows;
}

int Run(int rounds, double slice_ms) {
  std::vector<std::unique_ptr<PagePool>> pools;
  for (const Protection& protection : kProtections) {
    pools.push_back(std::make_unique<PagePool>(PoolOptions(protection)));
  }
  std::vector<Row> rows = MakeRows(pools);
  for (int round = -1; round < rounds; ++round) {
    for (Row& row : rows) {
      for (size_t i = 0; i < row.cells.size(); ++i) {
        // Another first one in each round, so that a drift of the machine favours nobody.
        Cell& cell = row.cells[(i + static_cast<size_t>(round + 1)) % row.cells.size()];
        const double ns = RunFor(*cell.server, row.workload, slice_ms * 1e6);
        if (round >= 0) cell.ns.push_back(ns);  // The first round warms up.
      }
    }
  }
  PrintTable(rows);
  return 0;
}

}  // namespace
}  // namespace harena::bench

int main(int argc, char** argv) {
  CLI::App app("What each protection costs a request: CPU time without, and what each one adds.");
  int rounds = 15;
  double slice_ms = 20;
  app.add_option("--rounds", rounds, "rounds over all cells")->check(CLI::Range(1, 10'000));
  app.add_option("--slice-ms", slice_ms, "least CPU time of a cell and round")
      ->check(CLI::Range(0.1, 10'000.0));
  CLI11_PARSE(app, argc, argv);
  return harena::bench::Run(rounds, slice_ms);
}
