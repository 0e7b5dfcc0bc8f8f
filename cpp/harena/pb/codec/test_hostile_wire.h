// Wire that was made to take as much memory as it can. Not installed.
#pragma once

#include <string>

#include <google/protobuf/descriptor.h>

#include "harena/pb/codec/test_random_message.h"

namespace harena::pb::codec::test {

/// What a hostile wire has most of.
enum class Hostility {
  kWide,        ///< Empty sub-messages, each as wide as its type.
  kStrings,     ///< Empty strings, and such as just do not fit into their own object.
  kNested,      ///< Messages in messages, lists in lists.
  kMaps,        ///< New keys and old ones, so that tables grow and leave theirs behind.
  kUnknown,     ///< Unknown fields of each kind, here and below.
  kPacked,      ///< Numbers one by one and packed in turn, and enum values that nobody knows.
  kGroups,      ///< Groups in groups, known and unknown.
  kEverything,  ///< All of these.
};
inline constexpr int kHostilities = 8;

/// About `bytes` bytes of wire for a message of `type`, from a seed. Nearly always one that
/// protobuf accepts.
std::string HostileWire(const google::protobuf::Descriptor& type, Hostility hostility, size_t bytes,
                        Random& random);

/// How often tests do the whole of it: more by HARENA_HOSTILE_ROUNDS.
int HostileRounds();

}  // namespace harena::pb::codec::test
