#pragma once

#include "vector_tile/vector_tile.pb.h"

namespace harena::bench {

/// Derives a tile: every layer's keys sorted and renumbered, its features grouped by geometry type
/// (points, lines, polygons; stable within a type), its values renumbered in the order of their
/// first use, its geometry re-quantised to half the extent. Parts that point nowhere (a tag without
/// a key or value, a truncated geometry command) are dropped.
///
/// REQUIRES: `restyled` is empty. Uses the ordinary generated API only, so that it works unchanged
/// in every memory mode. A pure function of `tile`; thread-safe.
void RestyleTile(const vector_tile::Tile& tile, vector_tile::Tile* restyled);

}  // namespace harena::bench
