// What a unary call costs behind tRPC's sockets: parse, method, serialize, and the end of both. A
// row is ITEMS/WHERE the messages live; `trpc_arenas` is tRPC as it is, `trpc_on_pages` is
// UsePages().
#include <string>

#include <benchmark/benchmark.h>
#include <trpc/server/method_handler.h>

#include "harena/adapters/trpc/pages_options.h"
#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/test_rig.h"

namespace harena::trpc {
namespace {

void Serve(benchmark::State& state, WorkService& service, int items) {
  [[maybe_unused]] static const bool initialized =
      ::trpc::serialization::Init() && ::trpc::compressor::Init();
  const NoncontiguousBuffer request = BytesOf(MakeTask(items));
  for (auto _ : state) {
    OneCall call(service);
    call.Run(kRun, request);
    if (!call.ok()) state.SkipWithError("a call failed");
  }
  state.counters["request_bytes"] = static_cast<double>(request.ByteSize());
}

void ByTrpc(benchmark::State& state, int items, const google::protobuf::ArenaOptions& options) {
  ::trpc::SetGlobalArenaOptions(options);
  WorkService service;
  Serve(state, service, items);
}

void OnScopes(benchmark::State& state, int items, Mode mode) {
  WorkService service;
  Services services({.defaults = {.mode = mode}, .expose_vars = false});
  services.Serve(service, kRun, &WorkService::Run);
  Serve(state, service, items);
}

bool RegisterAll() {
  for (const int items : {10, 200, 2000}) {
    const std::string start = std::to_string(items) + "_items/";
    benchmark::RegisterBenchmark((start + "trpc_arenas").c_str(), ByTrpc, items,
                                 google::protobuf::ArenaOptions());
    benchmark::RegisterBenchmark((start + "trpc_on_pages").c_str(), ByTrpc, items,
                                 PagesOptions().ForTrpc());
    for (const Mode mode : {Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec}) {
      benchmark::RegisterBenchmark((start + std::string(ToString(mode))).c_str(), OnScopes, items,
                                   mode);
    }
  }
  return true;
}
[[maybe_unused]] const bool registered = RegisterAll();

}  // namespace
}  // namespace harena::trpc
