// What limits cost: the same request parsed without any, with one that is far away, and with one of
// four times what it takes.
#include <string>

#include <benchmark/benchmark.h>

#include "harena/pb/message.h"
#include "harena/pb/parse.h"
#include "harena/pb/wire/shape.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/wide.pb.h"

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

// What the request takes where nothing is refused.
size_t NeedBytes(Mode mode, const std::string& wire) {
  Scope scope({.mode = mode});
  return ParseFrozen<harena::test::Shapes>(scope, wire) ? scope.budget().bytes_used() : 0;
}

// `times` of its need is the limit; none for 0.
void Parse160Kilobytes(benchmark::State& state, Mode mode, size_t times) {
  const std::string wire = Wire();
  ScopePool scopes(
      {.mode = mode,
       .request_bytes_max = times == 0 ? kUnlimitedBytes : times * NeedBytes(mode, wire)});
  for (auto _ : state) {
    Scope scope = scopes.Acquire();
    if (!ParseFrozen<harena::test::Shapes>(scope, wire)) state.SkipWithError("refused");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(wire.size()));
}

BENCHMARK_CAPTURE(Parse160Kilobytes, arena_unlimited, Mode::kArena, 0);
BENCHMARK_CAPTURE(Parse160Kilobytes, arena_400_times, Mode::kArena, 400);
BENCHMARK_CAPTURE(Parse160Kilobytes, arena_4_times, Mode::kArena, 4);
BENCHMARK_CAPTURE(Parse160Kilobytes, pages_unlimited, Mode::kPages, 0);
BENCHMARK_CAPTURE(Parse160Kilobytes, pages_400_times, Mode::kPages, 400);
BENCHMARK_CAPTURE(Parse160Kilobytes, pages_4_times, Mode::kPages, 4);
BENCHMARK_CAPTURE(Parse160Kilobytes, codec_unlimited, Mode::kCodec, 0);
BENCHMARK_CAPTURE(Parse160Kilobytes, codec_400_times, Mode::kCodec, 400);
BENCHMARK_CAPTURE(Parse160Kilobytes, codec_4_times, Mode::kCodec, 4);

// What each parse within limits asks about its type, where a thread serves so many types in turn.
void AskAboutTypesInTurn(benchmark::State& state) {
  const google::protobuf::Message* const prototypes[] = {
      &harena::test::Shapes::default_instance(),
      &harena::test::Leaf::default_instance(),
      &harena::test::WideList::default_instance(),
      &harena::test::Wide::default_instance(),
      &harena::test::KeptScalars::default_instance(),
      &harena::test::KeptRecursive::default_instance(),
  };
  const auto types = static_cast<size_t>(state.range(0));
  size_t next = 0;
  for (auto _ : state) {
    const google::protobuf::Message& prototype = *prototypes[next];
    benchmark::DoNotOptimize(wire::ReadsInOrder(prototype));
    benchmark::DoNotOptimize(wire::Shapes::OfGenerated(*prototype.GetDescriptor()));
    if (++next == types) next = 0;
  }
}
BENCHMARK(AskAboutTypesInTurn)->Arg(1)->Arg(2)->Arg(6)->ThreadRange(1, 2);

}  // namespace
}  // namespace harena::pb
