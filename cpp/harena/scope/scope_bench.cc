// What one request's scope costs. A row is NAME/RIVAL.
#include <cstdlib>
#include <cstring>

#include <benchmark/benchmark.h>

#include "harena/scope/scope_pool.h"

namespace harena {
namespace {

// Creating a scope, writing to its one page, ending it.
void ScopeOnePage(benchmark::State& state) {
  for (auto _ : state) {
    Scope scope;
    benchmark::DoNotOptimize(std::memset(scope.arena().Allocate(64), 1, 64));
  }
}
BENCHMARK(ScopeOnePage)->Name("scope_one_page/harena");

// The same page from malloc, for comparison.
void MallocOnePage(benchmark::State& state) {
  for (auto _ : state) {
    void* page = std::malloc(size_t{64} << 10);
    benchmark::DoNotOptimize(std::memset(page, 1, 64));
    std::free(page);
  }
}
BENCHMARK(MallocOnePage)->Name("scope_one_page/malloc");

// With what a method's pool adds: profile, counts, learned first block.
void ScopePoolAcquire(benchmark::State& state) {
  ScopePool scopes;
  for (auto _ : state) {
    Scope scope = scopes.Acquire();
    benchmark::DoNotOptimize(std::memset(scope.arena().Allocate(64), 1, 64));
  }
}
BENCHMARK(ScopePoolAcquire)->Name("scope_pool/harena");
BENCHMARK(ScopePoolAcquire)->Name("scope_pool_two_threads/harena")->Threads(2);

// What sampling costs: none, every scope, and one in as many as Options says by default. The last
// is to be read as a difference to the first, and the second divided by that number as a check of
// it.
void ScopePoolSampled(benchmark::State& state) {
  ScopePool scopes({.quarantine_one_in = static_cast<size_t>(state.range(0))});
  for (auto _ : state) {
    Scope scope = scopes.Acquire();
    benchmark::DoNotOptimize(
        std::memset(scope.arena().Allocate(state.range(1)), 1, state.range(1)));
  }
}
BENCHMARK(ScopePoolSampled)
    ->Name("scope_sampled_one_in/harena")
    ->ArgsProduct({{0, 1, static_cast<int64_t>(Options().quarantine_one_in)}, {64, 60'000}});

// A scope that is handed on once.
void ScopeDetach(benchmark::State& state) {
  for (auto _ : state) {
    Scope scope;
    const DetachedScope detached = scope.Detach();
    benchmark::DoNotOptimize(scope.arena().Allocate(64));
  }
}
BENCHMARK(ScopeDetach)->Name("scope_detached/harena");

void ProfileRecord(benchmark::State& state) {
  Profile profile;
  size_t bytes = 1;
  for (auto _ : state) {
    profile.Record(bytes & 0xfffff);
    bytes = bytes * 6364136223846793005ULL + 1442695040888963407ULL;
  }
}
BENCHMARK(ProfileRecord)->Name("profile_record/harena");

void ProfilePercentile(benchmark::State& state) {
  Profile profile;
  for (size_t i = 0; i < 1000; ++i) profile.Record(i * 1000);
  for (auto _ : state) benchmark::DoNotOptimize(profile.Percentile(75));
}
BENCHMARK(ProfilePercentile)->Name("profile_percentile/harena");

}  // namespace
}  // namespace harena
