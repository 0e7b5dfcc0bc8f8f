#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <google/protobuf/message.h>

#include "harena/pb/parse/parse.h"

namespace harena::testee {

/// How the wire of a request becomes a message, and where that lives.
struct Route {
  enum class Kind {
    kFrozen,  ///< Harena's codec, on a scope, for a message that is only read.
    kOpen,    ///< Harena's codec, on a scope, for a message that may be changed.
    kStock,   ///< protobuf alone, on the heap.
  };
  Kind kind = Kind::kFrozen;
  /// Bytes of the pieces in which the wire comes, as from a network; 0 for one piece.
  size_t chunk_bytes = 0;
};

/// False where the codec is not in the build, and protobuf does its work on scopes too.
bool HasCodec() noexcept;

/// The message that one request is about.
/// Lifetime rule: messages that it hands out end with it.
class Subject {
 public:
  struct Parsed {
    const google::protobuf::Message* message;  ///< Null unless `result` is true.
    pb::ParseResult result;
  };

  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual Parsed ParseWire(std::string_view wire) = 0;
  /// An empty message, for other formats to be read into. REQUIRES: called at most once.
  virtual google::protobuf::Message& MakeEmpty() = 0;
  /// Writes a message of this subject. False when it cannot be written. Maps are in the order of
  /// their keys on every route, so that the answers can be compared byte by byte.
  virtual bool Serialize(const google::protobuf::Message& message, std::string& wire) const = 0;
};

/// Null when there is no such message type.
std::unique_ptr<Subject> MakeSubject(std::string_view message_type, const Route& route);

}  // namespace harena::testee
