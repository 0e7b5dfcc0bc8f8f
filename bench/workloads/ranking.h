#pragma once

#include "harena/bench/v1/ranking.pb.h"

namespace harena::bench {

/// Scores every candidate by the viewer's weights and copies it into the response: items best first
/// within a group, groups ordered by their best item. Ties keep the order of the request.
///
/// REQUIRES: `response` is empty. Uses the ordinary generated API only, so that it works unchanged
/// in every memory mode. A pure function of `request`; thread-safe.
void Rank(const v1::RankRequest& request, v1::RankResponse* response);

}  // namespace harena::bench
