#pragma once

#include "harena/bench/v1/demo.pb.h"
#include "transit_realtime/gtfs_realtime.pb.h"

namespace harena::bench {

/// Derives a board from a feed. Trip updates become calls grouped by stop, every arrival and
/// departure moved by its own delay (else by its trip's) and rounded down to the half minute that
/// station boards show. Vehicle positions become spots grouped by route. Stops and routes appear in
/// the order in which the feed first names them.
///
/// REQUIRES: `board` is empty. Uses the ordinary generated API only, so that it works unchanged in
/// every memory mode. A pure function of `feed`; thread-safe.
void BoardFeed(const transit_realtime::FeedMessage& feed, v1::FeedBoard* board);

}  // namespace harena::bench
