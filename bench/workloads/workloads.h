#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/workloads/feed_board.h"
#include "bench/workloads/ranking.h"
#include "bench/workloads/tile_restyle.h"
#include "harena/bench/v1/demo.pb.h"

namespace harena::bench {

/// Whether this program's messages carry Harena's generated codec. The workloads are built twice,
/// as harena_workloads and harena_workloads_codec; a program links one of them.
#ifdef HARENA_BENCH_CODEC
inline constexpr bool kTypesCarryCodec = true;
#else
inline constexpr bool kTypesCarryCodec = false;
#endif

/// The methods of DemoService.
enum class Method { kRank, kBoardFeed, kRestyleTile };

/// One method's types and handler, for code that is written once for all methods.
template <typename RequestT, typename ResponseT, void (*HandlerFn)(const RequestT&, ResponseT*)>
struct TypedMethod {
  using Request = RequestT;
  using Response = ResponseT;
  static void Handle(const Request& request, Response* response) { HandlerFn(request, response); }
};

using RankMethod = TypedMethod<v1::RankRequest, v1::RankResponse, &Rank>;
using BoardFeedMethod = TypedMethod<transit_realtime::FeedMessage, v1::FeedBoard, &BoardFeed>;
using RestyleTileMethod = TypedMethod<vector_tile::Tile, vector_tile::Tile, &RestyleTile>;

/// Calls `visitor(TypedMethod<...>{})` for `method` and returns its result.
template <typename Visitor>
decltype(auto) VisitMethod(Method method, Visitor&& visitor) {
  switch (method) {
    case Method::kRank:
      return visitor(RankMethod{});
    case Method::kBoardFeed:
      return visitor(BoardFeedMethod{});
    case Method::kRestyleTile:
      break;
  }
  return visitor(RestyleTileMethod{});
}

/// A named input of one method. Immutable after creation, so it may be shared by threads.
struct Workload {
  std::string name;
  Method method;
  /// The method's name in DemoService, such as "Rank".
  std::string_view method_name;
  /// Wire bytes, at least one. Callers go through them in turn.
  std::vector<std::string> requests;

  /// "/package.Service/Method", as gRPC's generic stub wants it.
  std::string MethodPath() const;
};

/// The source tree's testdata folder, as configured.
std::string DefaultTestdata();

/// ranking_8k, ranking_200k (16 variants each, sizes from 3/4 to 5/4 of the name's),
/// ranking_8k_one, ranking_200k_one (one constant shape each), ranking_mixed (64 sizes from 1 KB to
/// 1 MB), trips, vehicles, tile.
std::vector<std::string> WorkloadNames();

/// The named workload. `testdata` is the folder of the real payloads, by default the source tree's.
/// Throws std::invalid_argument for an unknown name and std::runtime_error for an unreadable file,
/// with a message that says which.
Workload LoadWorkload(std::string_view name, const std::string& testdata = DefaultTestdata());

/// One ranking request of about `bytes`, as workload "ranking_<bytes>": for curves over the size.
Workload MakeRankingWorkload(size_t bytes);

/// Heap-mode answer to `request_wire` in deterministic wire bytes, computed in this process.
/// Throws std::runtime_error if the request does not parse.
std::string ExpectedResponse(Method method, std::string_view request_wire);

/// Parses a response of `method` and returns its deterministic wire bytes, or an empty string if it
/// does not parse.
std::string NormalizedResponse(Method method, std::string_view response_wire);

}  // namespace harena::bench
