// The load generator for brpc servers: drives one that runs as another process, watches that
// process from outside, and prints one JSON object.
#include <string>

#include <CLI/CLI.hpp>
#include <butil/logging.h>
#include <google/protobuf/stubs/common.h>
#include <nlohmann/json.hpp>

#include "bench/brpc/load.h"
#include "bench/brpc/term_pool.h"
#include "bench/load/build_facts.h"
#include "bench/load/loader_program.h"

namespace {

using harena::bench::BrpcLoad;
using harena::bench::LoaderFlags;
using harena::bench::TermPool;

nlohmann::json Describe() {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : harena::bench::TermPoolNames()) {
    nlohmann::json sizes = nlohmann::json::array();
    for (const std::string& wire : harena::bench::MakeTermPool(name).requests) {
      sizes.push_back(wire.size());
    }
    all.push_back({{"workload", name},
                   {"method", "Echo"},
                   {"request_bytes", sizes},
                   {"response_bytes", sizes}});
  }
  return {{"workloads", all},
          {"versions",
           {{"brpc", HARENA_BENCH_BRPC_VERSION},
            {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
            {"compiler", harena::bench::kCompiler}}},
          {"optimized", harena::bench::kOptimized}};
}

nlohmann::json Run(const LoaderFlags& flags) {
  const TermPool pool = harena::bench::MakeTermPool(flags.workload);
  BrpcLoad load(flags.port, pool);
  return harena::bench::Measure(load, flags);
}

}  // namespace

int main(int argc, char** argv) {
  LoaderFlags flags;
  flags.workload = "terms";
  // brpc's own statistics, once a second, whatever the load.
  flags.background_thread = "bvar_sampler";
  CLI::App app("The load generator for brpc servers; prints one JSON object");
  harena::bench::AddLoaderFlags(app, flags, harena::bench::TermPoolNames());
  CLI11_PARSE(app, argc, argv);
  logging::SetMinLogLevel(logging::BLOG_FATAL);  // what fails is in the report
  return harena::bench::RunLoader("brpc loader", flags, &Describe, [&] { return Run(flags); });
}
