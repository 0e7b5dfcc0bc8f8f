// What limits cost: the same request parsed without any, with one that is far away, and with one so
// close that the wire is looked through first.
#include <string>

#include <benchmark/benchmark.h>

#include "harena/pb/message.h"
#include "harena/pb/parse.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"

namespace harena::pb {
namespace {

std::string Wire() {
  harena::test::Shapes request;
  for (int i = 0; i < 3000; ++i) {
    request.add_leaves()->set_name("a leaf with a name of some length");
    (*request.mutable_counts())["key " + std::to_string(i)] = i;
    request.add_packed(i);
  }
  return request.SerializeAsString();
}

void Parse160Kilobytes(benchmark::State& state, Mode mode, size_t request_bytes_max) {
  const std::string wire = Wire();
  ScopePool scopes({.mode = mode, .request_bytes_max = request_bytes_max});
  for (auto _ : state) {
    Scope scope = scopes.Acquire();
    if (!ParseFrozen<harena::test::Shapes>(scope, wire)) state.SkipWithError("refused");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(wire.size()));
}

constexpr size_t kFar = size_t{64} << 20;
constexpr size_t kClose = size_t{8} << 20;
BENCHMARK_CAPTURE(Parse160Kilobytes, arena_unlimited, Mode::kArena, kUnlimitedBytes);
BENCHMARK_CAPTURE(Parse160Kilobytes, arena_far, Mode::kArena, kFar);
BENCHMARK_CAPTURE(Parse160Kilobytes, arena_close, Mode::kArena, kClose);
BENCHMARK_CAPTURE(Parse160Kilobytes, pages_unlimited, Mode::kPages, kUnlimitedBytes);
BENCHMARK_CAPTURE(Parse160Kilobytes, pages_far, Mode::kPages, kFar);
BENCHMARK_CAPTURE(Parse160Kilobytes, pages_close, Mode::kPages, kClose);
BENCHMARK_CAPTURE(Parse160Kilobytes, codec_unlimited, Mode::kCodec, kUnlimitedBytes);
BENCHMARK_CAPTURE(Parse160Kilobytes, codec_far, Mode::kCodec, kFar);
BENCHMARK_CAPTURE(Parse160Kilobytes, codec_close, Mode::kCodec, kClose);

}  // namespace
}  // namespace harena::pb
