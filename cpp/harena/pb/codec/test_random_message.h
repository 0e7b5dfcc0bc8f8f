// Messages of any type with any content, from a seed. Not installed.
#pragma once

#include <random>

#include <google/protobuf/message.h>

namespace harena::pb::codec::test {

using Random = std::mt19937_64;

/// Below `bound`, which is not zero.
inline size_t Below(Random& random, size_t bound) { return random() % bound; }
inline bool OneIn(Random& random, size_t count) { return Below(random, count) == 0; }

struct RandomMessageOptions {
  int depth_max = 4;
  int fields_max = 200;  ///< In the whole tree, more or less.
  bool unknown_fields = true;
  size_t long_bytes_max = 0;  ///< Some strings are up to so long, and some lists, instead of short.
};

/// Fills `message` by reflection. Required fields are set, proto3 strings are UTF-8, enums are
/// known values where they are closed; everything else may be anything.
void FillRandomly(google::protobuf::Message& message, Random& random,
                  const RandomMessageOptions& options = {});

}  // namespace harena::pb::codec::test
