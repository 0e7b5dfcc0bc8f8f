// Operations on messages that have a codec, each applied to a twin on the heap as well, which is
// protobuf's own code: both must end up the same, whatever memory the first one lives on.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message.h>

#include "harena/test/codec_safety.pb.h"
#include "harena/test/codec_safety2.pb.h"

namespace harena::pb::codec {

using harena::test::safety::Part;
using harena::test::safety::Whole;
using harena::test::safety::Whole2;

/// Lengths of texts: inside of a string object, in a kept body, beyond what is kept.
enum class Length { kShort, kMiddle, kLong };
inline constexpr Length kLengths[] = {Length::kShort, Length::kMiddle, Length::kLong};

/// A text of that length that starts with `name`.
std::string Text(const std::string& name, Length length);

/// Sets every field. Maps get one entry each, so that their bytes have one order everywhere.
void Fill(Whole& message, const std::string& name, Length length);
void Fill(Part& part, const std::string& name, Length length);
void Fill(Whole2& message, const std::string& name, Length length);

/// How a message has come to be.
enum class Origin {
  kSetters,     ///< On the scope, by its setters.
  kParsed,      ///< On the scope, by ParseFromString().
  kStream,      ///< On the scope, from a stream of small chunks.
  kHeap,        ///< On the heap, by setters.
  kOtherScope,  ///< On another scope of mode codec, by ParseFromString().
  kOtherArena,  ///< On an arena that is not Harena's.
};
std::ostream& operator<<(std::ostream& out, Origin origin);

/// What an operation has taken out of messages and what must outlive their scopes.
struct Kept {
  std::vector<std::unique_ptr<std::string>> strings;
  std::vector<std::unique_ptr<google::protobuf::Message>> messages;

  /// What a release gives for an empty string, null or an empty one, depends on how it became
  /// empty.
  void Add(std::string* string) {
    std::unique_ptr<std::string> owner(string);
    if (owner != nullptr && !owner->empty()) strings.push_back(std::move(owner));
  }
  void Add(std::string string) {
    strings.push_back(std::make_unique<std::string>(std::move(string)));
  }
  /// Null is what a release of nothing gives; the twin gives it too, or the numbers differ.
  void Add(google::protobuf::Message* message) {
    if (message != nullptr) messages.emplace_back(message);
  }
};

/// One operation. `a` is what it is about, `b` another message, elsewhere or not. It leaves both
/// with contents that depend on their contents before and on nothing else.
template <typename T>
struct Row {
  const char* name;
  std::function<void(T& a, T& b, Kept& kept)> apply;

  friend std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }
};

/// What `message` consists of, by protobuf's own serializer on the heap, by the codec where it
/// lives on a scope; both in the order of keys.
std::string BytesOf(const google::protobuf::Message& message);

/// Lengthens every string of `message`, also in maps, by reflection.
void AppendEverywhere(google::protobuf::Message& message, const std::string& more);

/// Reads every field by reflection; the sum of what was seen, so that nothing is left out.
size_t ReadEverything(const google::protobuf::Message& message);

/// Applies `row` to messages of all origins and lengths and to their twins.
template <typename T>
void CheckRow(const Row<T>& row);
extern template void CheckRow<Whole>(const Row<Whole>&);
extern template void CheckRow<Whole2>(const Row<Whole2>&);

/// `count` rows in an order that `seed` gives, applied to one pair of messages and its twins.
template <typename T>
void CheckSequence(const std::vector<Row<T>>& rows, uint32_t seed, int count);
extern template void CheckSequence<Whole>(const std::vector<Row<Whole>>&, uint32_t, int);
extern template void CheckSequence<Whole2>(const std::vector<Row<Whole2>>&, uint32_t, int);

/// Runs `body` in a child process, so that a crash fails one test only; under AddressSanitizer in
/// this one, so that it sees leaks.
void RunApart(const std::function<void()>& body);

const std::vector<Row<Whole>>& StringRows();
const std::vector<Row<Whole>>& WholeMessageRows();
const std::vector<Row<Whole>>& RepeatedRows();
const std::vector<Row<Whole>>& MapRows();
const std::vector<Row<Whole>>& ReflectionRows();
const std::vector<Row<Whole2>>& Proto2Rows();

}  // namespace harena::pb::codec
