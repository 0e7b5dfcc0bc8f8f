// One input through protobuf's parser and through the codec's, and everything about the two
// results. Not installed.
#pragma once

#include <string>
#include <string_view>

#include "harena/pb/codec/test_chunks.h"
#include "harena/pb/codec/test_subject.h"

namespace harena::pb::codec::test {

/// How the bytes become a message.
enum class Way {
  kFrozen,         ///< ParseFrozen() from a stream
  kFrozenFlat,     ///< ParseFrozen() from memory
  kThawed,         ///< ParseFrozen(), Thaw(), and the same bytes merged into that
  kOpen,           ///< Parse() from a stream, into a message that may be changed
  kOpenString,     ///< ParseFromString()
  kOpenStream,     ///< ParseFromZeroCopyStream()
  kOpenPartial,    ///< ParsePartialFromZeroCopyStream()
  kOpenCoded,      ///< ParsePartialFromCodedStream(), which may end at the end of a group
  kShallow,        ///< the same with a recursion limit of 5
  kMergedTwice,    ///< MergePartialFromCodedStream(), twice
  kClearedBefore,  ///< parsed, cleared, and parsed again
};
inline constexpr int kWays = 11;

const char* ToString(Way way);

/// What is different between a heap message, which protobuf parses and writes, and one on a scope
/// of mode `codec`, both given `wire` in that way; in words, for a person. Empty when nothing is.
std::string Difference(const Subject& subject, std::string_view wire, Way way,
                       const ChunkSizes& sizes);

/// What is different from `expected` in what `actual` writes, in each way in which messages can be
/// written; in words. `has_codec`: written by it, in an order of its own that is always the same.
std::string WritingDifference(const google::protobuf::Message& actual, bool has_codec,
                              const std::string& expected, const ChunkSizes& sizes);

/// What protobuf writes for a heap message when it is to be deterministic.
std::string StockBytes(const google::protobuf::Message& message);

/// "0a 03 61 62 63", cut off after `bytes_max`.
std::string Hex(std::string_view bytes, size_t bytes_max = 400);

}  // namespace harena::pb::codec::test
