// What limits cost: the same request parsed without any, with one that is far away, and with one of
// four times what it takes.
#include <cstdlib>
#include <random>
#include <string>

#include <benchmark/benchmark.h>
#include <google/protobuf/struct.pb.h>

#include "harena/pb/arena/message.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/wire/schema.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/wide.pb.h"

namespace harena::pb {
namespace {

// Many small parts.
std::string Parts() {
  harena::test::Shapes request;
  for (int i = 0; i < 3000; ++i) {
    request.add_leaves()->set_name("a leaf with a name of some length");
    (*request.mutable_counts())["key " + std::to_string(i)] = i;
    request.add_packed(i);
  }
  return request.SerializeAsString();
}

// Many small parts with numbers and hashes, which look like lengths now and then.
std::string Noise() {
  std::mt19937_64 random(2);
  harena::test::Shapes request;
  for (int i = 0; i < 2500; ++i) {
    harena::test::Shapes& child = *request.add_children();
    const uint64_t hash[] = {random(), random()};
    child.set_blob(hash, sizeof hash);
    child.set_ratio(static_cast<double>(random()));
    child.set_text("a text of some length");
    for (int j = 0; j < 4; ++j) child.add_packed(static_cast<int32_t>(random() >> 40));
  }
  return request.SerializeAsString();
}

// One part of bytes that may be anything, as pictures are.
std::string Blob() {
  std::mt19937_64 random(1);
  std::string bytes(160'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  harena::test::Shapes request;
  request.set_blob(bytes);
  return request.SerializeAsString();
}

// Numbers in messages of a type that has no codec, well-known ones as any other.
std::string Struct() {
  std::mt19937_64 random(3);
  google::protobuf::Struct request;
  for (int i = 0; i < 5000; ++i) {
    (*request.mutable_fields())["key " + std::to_string(i)].set_number_value(
        static_cast<double>(random()) / 7);
  }
  return request.SerializeAsString();
}

// As small as most requests are.
std::string Small() {
  harena::test::Shapes request;
  request.set_text("a text of more bytes than a string holds in itself");
  request.set_number(7);
  request.add_leaves()->set_name("a leaf");
  return request.SerializeAsString();
}

// What the request takes where nothing is refused.
template <typename Message>
size_t NeedBytes(Mode mode, const std::string& wire) {
  Scope scope({.mode = mode});
  return ParseFrozen<Message>(scope, wire) ? scope.budget().bytes_used() : 0;
}

// `times` of its need is the limit; none for 0.
template <typename Message>
void ParseRequest(benchmark::State& state, Mode mode, const std::string& wire, size_t times) {
  ScopePool scopes(
      {.mode = mode,
       .request_bytes_max = times == 0 ? kUnlimitedBytes : times * NeedBytes<Message>(mode, wire)});
  for (auto _ : state) {
    Scope scope = scopes.Acquire();
    if (!ParseFrozen<Message>(scope, wire)) state.SkipWithError("refused");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(wire.size()));
}

// Every request in every mode with every limit. HARENA_BENCH_ITERATIONS fixes how often, for
// counting instructions.
[[maybe_unused]] const bool kRegistered = [] {
  const char* const iterations = std::getenv("HARENA_BENCH_ITERATIONS");
  struct Request {
    const char* name;
    std::string (*make)();
    void (*parse)(benchmark::State&, Mode, const std::string&, size_t times);
  };
  struct Limit {
    const char* name;
    size_t times;
  };
  constexpr auto kParseShapes = ParseRequest<harena::test::Shapes>;
  for (const Request& request :
       {Request{"160kb_parts", Parts, kParseShapes}, Request{"180kb_noise", Noise, kParseShapes},
        Request{"160kb_struct", Struct, ParseRequest<google::protobuf::Struct>},
        Request{"160kb_blob", Blob, kParseShapes}, Request{"small", Small, kParseShapes}}) {
    for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kCodec}) {
      for (const Limit& limit :
           {Limit{"unlimited", 0}, Limit{"400_times", 400}, Limit{"4_times", 4}}) {
        const std::string name = std::string("ParseRequest/") + request.name + "_" +
                                 std::string(ToString(mode)) + "_" + limit.name;
        auto* const one = benchmark::RegisterBenchmark(
            name.c_str(), [mode, request, times = limit.times](benchmark::State& state) {
              request.parse(state, mode, request.make(), times);
            });
        if (iterations != nullptr) one->Iterations(std::atoi(iterations));
      }
    }
  }
  return true;
}();

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
    benchmark::DoNotOptimize(wire::Schemas::OfGenerated(*prototype.GetDescriptor()));
    if (++next == types) next = 0;
  }
}
BENCHMARK(AskAboutTypesInTurn)->Arg(1)->Arg(2)->Arg(6)->ThreadRange(1, 2);

}  // namespace
}  // namespace harena::pb
