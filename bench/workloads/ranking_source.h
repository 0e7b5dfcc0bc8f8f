#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harena/bench/v1/ranking.pb.h"

namespace harena::bench {

/// The shape of one synthetic ranking request.
struct RankingShape {
  /// How many candidates, over all groups. The wire size grows linearly with it.
  int candidates = 0;
  /// How many groups the candidates are spread over, as evenly as possible.
  int groups = 1;
};

/// Fills `request` with strings of 8 to 60 bytes, maps, packed numbers and bytes, five levels deep.
/// The result depends on `shape` and `seed` only: no clock, no address, no standard distribution.
/// Thread-safe.
void FillRankRequest(const RankingShape& shape, uint64_t seed, v1::RankRequest* request);

/// Deterministic wire bytes of `variants` requests whose sizes are spread evenly from 3/4 to 5/4 of
/// `nominal_bytes`; one variant means one request of the nominal size. Thread-safe.
std::vector<std::string> MakeRankRequests(size_t nominal_bytes, int variants, uint64_t seed);

/// Deterministic wire bytes of `variants` requests from about `bytes_min` to about `bytes_max`,
/// evenly spread over the logarithm of their size, small and large in turn. Thread-safe.
std::vector<std::string> MakeMixedRankRequests(size_t bytes_min, size_t bytes_max, int variants,
                                               uint64_t seed);

}  // namespace harena::bench
