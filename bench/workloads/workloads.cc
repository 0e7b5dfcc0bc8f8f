#include "bench/workloads/workloads.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "bench/workloads/ranking_source.h"
#include "bench/workloads/wire.h"

namespace harena::bench {
namespace {

constexpr int kVariants = 16;
constexpr uint64_t kSeed = 20241120;

constexpr int kMixedVariants = 64;
constexpr size_t kMixedBytesMin = 1'000;

/// What LoadWorkload knows about one name: a payload file, or the size of a synthetic request (the
/// largest size, for a mix).
struct Recipe {
  std::string_view name;
  Method method;
  std::string_view file;
  size_t nominal_bytes;
  int variants;
};

constexpr Recipe kRecipes[] = {
    {"ranking_8k", Method::kRank, "", 8'000, kVariants},
    {"ranking_8k_one", Method::kRank, "", 8'000, 1},
    {"ranking_200k", Method::kRank, "", 200'000, kVariants},
    {"ranking_200k_one", Method::kRank, "", 200'000, 1},
    {"ranking_mixed", Method::kRank, "", 1'000'000, kMixedVariants},
    {"trips", Method::kBoardFeed, "mbta-trip-updates.pb", 0, 1},
    {"vehicles", Method::kBoardFeed, "mbta-vehicle-positions.pb", 0, 1},
    {"tile", Method::kRestyleTile, "osm-montevideo-12-1410-2472.mvt", 0, 1},
};

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kRank:
      return "Rank";
    case Method::kBoardFeed:
      return "BoardFeed";
    case Method::kRestyleTile:
      break;
  }
  return "RestyleTile";
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read payload " + path + " (see --testdata)");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string DefaultTestdata() { return HARENA_TESTDATA; }

std::string Workload::MethodPath() const {
  return "/harena.bench.v1.DemoService/" + std::string(method_name);
}

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  for (const Recipe& recipe : kRecipes) names.emplace_back(recipe.name);
  return names;
}

Workload LoadWorkload(std::string_view name, const std::string& testdata) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name != name) continue;
    Workload workload{std::string(name), recipe.method, MethodName(recipe.method), {}};
    if (recipe.variants == kMixedVariants) {
      workload.requests =
          MakeMixedRankRequests(kMixedBytesMin, recipe.nominal_bytes, recipe.variants, kSeed);
    } else if (recipe.file.empty()) {
      workload.requests = MakeRankRequests(recipe.nominal_bytes, recipe.variants, kSeed);
    } else {
      workload.requests.push_back(ReadFile(testdata + "/" + std::string(recipe.file)));
    }
    return workload;
  }
  std::string known;
  for (const std::string& other : WorkloadNames()) known += " " + other;
  throw std::invalid_argument("no workload named " + std::string(name) + "; there are:" + known);
}

Workload MakeRankingWorkload(size_t bytes) {
  return {"ranking_" + std::to_string(bytes), Method::kRank, MethodName(Method::kRank),
          MakeRankRequests(bytes, 1, kSeed)};
}

std::string ExpectedResponse(Method method, std::string_view request_wire) {
  return VisitMethod(method, [&](auto typed) {
    typename decltype(typed)::Request request;
    typename decltype(typed)::Response response;
    if (!request.ParseFromArray(request_wire.data(), static_cast<int>(request_wire.size()))) {
      throw std::runtime_error("a workload's request does not parse");
    }
    typed.Handle(request, &response);
    return DeterministicBytes(response);
  });
}

std::string NormalizedResponse(Method method, std::string_view response_wire) {
  return VisitMethod(method, [&](auto typed) -> std::string {
    typename decltype(typed)::Response response;
    if (!response.ParseFromArray(response_wire.data(), static_cast<int>(response_wire.size()))) {
      return "";
    }
    return DeterministicBytes(response);
  });
}

}  // namespace harena::bench
