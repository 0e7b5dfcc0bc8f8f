#include "harena/pb/codec/test_compare.h"

#include <cstring>
#include <memory>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/pb/arena/message.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Message;
using google::protobuf::io::CodedInputStream;

// A frozen message parsed from memory that ends exactly with the wire, and is gone afterwards.
Subject::Parsed ParseFlat(const Subject& subject, Scope& scope, std::string_view wire) {
  const auto copy = std::make_unique<char[]>(wire.size());
  std::memcpy(copy.get(), wire.data(), wire.size());
  const Subject::Parsed parsed = subject.parse_frozen_flat(scope, {copy.get(), wire.size()});
  std::memset(copy.get(), 0xdb, wire.size());
  return parsed;
}

// What a coded stream knows after parsing counts too.
struct CodedVerdict {
  bool ok = false;
  bool consumed_entire = false;
  int position = 0;
  bool operator==(const CodedVerdict&) const = default;
};

CodedVerdict ParseCoded(std::string_view wire, const ChunkSizes& sizes, int recursion_limit,
                        Message& message) {
  ChunkInputStream stream(wire, sizes);
  CodedInputStream input(&stream);
  input.SetRecursionLimit(recursion_limit);
  CodedVerdict verdict;
  verdict.ok = message.ParsePartialFromCodedStream(&input);
  if (verdict.ok) {
    verdict.consumed_entire = input.ConsumedEntireMessage();
    verdict.position = input.CurrentPosition();
  }
  return verdict;
}

bool MergePartial(Message& message, std::string_view wire) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(wire.data()),
                         static_cast<int>(wire.size()));
  return message.MergePartialFromCodedStream(&input) && input.ConsumedEntireMessage();
}

// The ways that are the same calls for both messages.
bool ParseInto(Message& message, std::string_view wire, Way way, const ChunkSizes& sizes) {
  const std::string flat(wire);
  switch (way) {
    case Way::kOpenString:
      return message.ParseFromString(flat);
    case Way::kMergedTwice:
      return MergePartial(message, flat) && MergePartial(message, flat);
    case Way::kClearedBefore:
      static_cast<void>(message.ParsePartialFromString(flat));
      message.Clear();
      return message.ParseFromString(flat);
    default:
      break;
  }
  ChunkInputStream stream(wire, sizes);
  switch (way) {
    case Way::kOpenStream:
      return message.ParseFromZeroCopyStream(&stream);
    case Way::kOpenPartial:
      return message.ParsePartialFromZeroCopyStream(&stream);
    default:
      // Not ParseFromBoundedZeroCopyStream(), which backs a stream up further than its last block.
      return message.ParseFromString(flat);
  }
}

// The codec's message, or null.
const Message* ParseFrozenBy(const Subject& subject, Scope& scope, std::string_view wire, Way way,
                             const ChunkSizes& sizes) {
  if (way == Way::kFrozenFlat) return ParseFlat(subject, scope, wire).message;
  ChunkInputStream stream(wire, sizes);
  return subject.parse_frozen(scope, stream, wire.size()).message;
}

struct Pair {
  std::unique_ptr<Message> expected;
  const Message* actual = nullptr;
  bool expected_ok = false;
  bool actual_ok = false;
  std::string difference;
};

Pair ParseBoth(const Subject& subject, Scope& scope, std::string_view wire, Way way,
               const ChunkSizes& sizes) {
  Pair pair;
  pair.expected.reset(subject.prototype->New());
  if (way == Way::kOpenCoded || way == Way::kShallow) {
    const int limit = way == Way::kShallow ? 5 : 100;
    Message* message = subject.make(scope);
    const CodedVerdict expected = ParseCoded(wire, sizes, limit, *pair.expected);
    const CodedVerdict actual = ParseCoded(wire, sizes, limit, *message);
    if (expected.ok && actual.ok && expected != actual) {
      pair.difference = "the coded stream stands at " + std::to_string(actual.position) +
                        " instead of " + std::to_string(expected.position) +
                        ", at the end: " + std::to_string(actual.consumed_entire);
    }
    pair.expected_ok = expected.ok;
    pair.actual_ok = actual.ok;
    pair.actual = message;
    return pair;
  }
  pair.expected_ok = ParseInto(*pair.expected, wire, way, sizes);
  if (way == Way::kFrozen || way == Way::kFrozenFlat || way == Way::kThawed) {
    pair.actual = ParseFrozenBy(subject, scope, wire, way, sizes);
    pair.actual_ok = pair.actual != nullptr;
    if (way == Way::kThawed && pair.actual_ok && pair.expected_ok) {
      Message* thawed = subject.thaw(scope, *pair.actual);
      pair.expected_ok = MergePartial(*pair.expected, wire);
      pair.actual_ok = MergePartial(*thawed, wire);
      pair.actual = thawed;
    }
    return pair;
  }
  Message* message = subject.make(scope);
  pair.actual = message;
  if (way == Way::kOpen) {
    ChunkInputStream stream(wire, sizes);
    pair.actual_ok = bool(subject.parse_open(scope, stream, wire.size(), *message));
  } else {
    pair.actual_ok = ParseInto(*message, wire, way, sizes);
  }
  return pair;
}

std::string DeterministicBytes(const Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    static_cast<void>(message.SerializePartialToCodedStream(&out));
  }
  return bytes;
}

std::string CompareBytes(const char* what, const std::string& expected, const std::string& actual) {
  if (expected == actual) return "";
  size_t at = 0;
  while (at < expected.size() && at < actual.size() && expected[at] == actual[at]) ++at;
  return std::string(what) + " differ from byte " + std::to_string(at) + " on:\n  expected " +
         Hex(expected) + "\n  got      " + Hex(actual) + "\n";
}

std::string CompareContent(const Message& expected, const Message& actual) {
  std::string found;
  google::protobuf::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  google::protobuf::util::MessageDifferencer differencer;
  differencer.set_field_comparator(&comparator);
  differencer.ReportDifferencesToString(&found);
  if (!differencer.Compare(expected, actual) && found.empty()) found = "not equal\n";
  if (expected.IsInitialized() != actual.IsInitialized()) found += "IsInitialized() differs\n";
  if (expected.ByteSizeLong() < 2000 && expected.DebugString() != actual.DebugString()) {
    found += "DebugString() differs:\n" + expected.DebugString() + "\n" + actual.DebugString();
  }
  return found;
}

// Once more through a copy on the heap, whose serializer is protobuf's.
std::string CompareCopy(const Message& actual, const std::string& expected) {
  const std::unique_ptr<Message> copy(actual.New());
  copy->CopyFrom(actual);
  return CompareBytes("a heap copy's bytes", expected, StockBytes(*copy));
}

}  // namespace

const char* ToString(Way way) {
  constexpr const char* kNames[kWays] = {
      "frozen",       "frozen flat",  "thawed",  "open",         "open string",   "open stream",
      "open partial", "coded stream", "shallow", "merged twice", "cleared before"};
  return kNames[static_cast<int>(way)];
}

std::string WritingDifference(const Message& actual, bool has_codec, const std::string& expected,
                              const ChunkSizes& sizes) {
  std::string found = CompareBytes("deterministic bytes", expected, DeterministicBytes(actual));
  if (const size_t size = actual.ByteSizeLong(); size != expected.size()) {
    found += "ByteSizeLong() is " + std::to_string(size) + "\n";
  }
  if (actual.GetCachedSize() != static_cast<int>(expected.size())) {
    found += "GetCachedSize() is " + std::to_string(actual.GetCachedSize()) + "\n";
  }
  if (!has_codec) return found;  // protobuf's own order of map entries
  found += CompareBytes("SerializePartialAsString()", expected, actual.SerializePartialAsString());
  std::vector<char> array(expected.size());
  if (!actual.SerializePartialToArray(array.data(), static_cast<int>(array.size()))) {
    found += "SerializePartialToArray() refused\n";
  }
  found += CompareBytes("the array's bytes", expected, std::string(array.begin(), array.end()));
  if (!expected.empty() &&
      actual.SerializePartialToArray(array.data(), static_cast<int>(array.size()) - 1)) {
    found += "SerializePartialToArray() wrote into an array that is too short\n";
  }
  ChunkOutputStream pieces(sizes);
  if (!actual.SerializePartialToZeroCopyStream(&pieces)) found += "the stream was refused\n";
  found += CompareBytes("the pieces' bytes", expected, pieces.bytes());
  std::string appended = "in front";
  static_cast<void>(actual.AppendPartialToString(&appended));
  found += CompareBytes("appended bytes", "in front" + expected, appended);
  return found;
}

std::string StockBytes(const Message& message) { return DeterministicBytes(message); }

std::string Hex(std::string_view bytes, size_t bytes_max) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes.substr(0, bytes_max)) {
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[byte & 15];
    hex += ' ';
  }
  if (bytes.size() > bytes_max) hex += "... " + std::to_string(bytes.size()) + " bytes";
  return hex;
}

std::string Difference(const Subject& subject, std::string_view wire, Way way,
                       const ChunkSizes& sizes) {
  Scope scope({.mode = Mode::kCodec});
  const Pair pair = ParseBoth(subject, scope, wire, way, sizes);
  std::string found = pair.difference;
  if (pair.expected_ok != pair.actual_ok) {
    found +=
        pair.expected_ok ? "refused, but protobuf accepts\n" : "accepted, but protobuf refuses\n";
  } else if (pair.expected_ok) {
    const std::string bytes = StockBytes(*pair.expected);
    found += WritingDifference(*pair.actual, subject.has_codec, bytes, sizes);
    found += CompareContent(*pair.expected, *pair.actual);
    found += CompareCopy(*pair.actual, bytes);
  }
  if (found.empty()) return found;
  std::string where = std::string(subject.name()) + ", " + ToString(way) + ", pieces of";
  for (const int size : sizes) where += " " + std::to_string(size);
  return where + "\n  wire " + Hex(wire) + "\n" + found;
}

}  // namespace harena::pb::codec::test
