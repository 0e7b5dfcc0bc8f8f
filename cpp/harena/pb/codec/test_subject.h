// Message types as values, for tests that are written once and run over all of them. Not installed.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message.h>

#include "harena/pb/layout/raw_string.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope.h"

namespace harena::pb::codec::test {

/// One message type and what has to be said with its name.
struct Subject {
  struct Parsed {
    const google::protobuf::Message* message;
    ParseResult result;
  };

  const google::protobuf::Message* prototype;  ///< New() gives a message that is protobuf's alone.
  bool has_codec;                              ///< And it works in this program.
  google::protobuf::Message* (*make)(Scope&);
  /// Parse() of the type, into what `make` made or protobuf has.
  ParseResult (*parse_open)(Scope&, google::protobuf::io::ZeroCopyInputStream&, size_t,
                            google::protobuf::Message&);
  Parsed (*parse_frozen)(Scope&, google::protobuf::io::ZeroCopyInputStream&, size_t);
  Parsed (*parse_frozen_flat)(Scope&, std::string_view);
  google::protobuf::Message* (*thaw)(Scope&, const google::protobuf::Message&);

  std::string_view name() const { return prototype->GetDescriptor()->full_name(); }
};

template <typename T>
Subject SubjectOf() {
  using google::protobuf::Message;
  return {
      .prototype = &T::default_instance(),
      .has_codec = HasCodec<T> && layout::RawStringsWork(),
      .make = [](Scope& scope) -> Message* { return scope.CreateMessage<T>(); },
      .parse_open = [](Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                       size_t wire_bytes, Message& message) -> ParseResult {
        return Parse(scope, input, wire_bytes, static_cast<T&>(message));
      },
      .parse_frozen = [](Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                         size_t wire_bytes) -> Subject::Parsed {
        const Frozen<T> frozen = ParseFrozen<T>(scope, input, wire_bytes);
        return {frozen.message, frozen.result};
      },
      .parse_frozen_flat = [](Scope& scope, std::string_view wire) -> Subject::Parsed {
        const Frozen<T> frozen = ParseFrozen<T>(scope, wire);
        return {frozen.message, frozen.result};
      },
      .thaw = [](Scope& scope, const Message& message) -> Message* {
        return Thaw(scope, static_cast<const T&>(message));
      },
  };
}

/// Every message type of the test schemas and the workloads; entries of maps are not among them.
const std::vector<Subject>& Subjects();

/// These, and the types that come with protobuf.
const std::vector<Subject>& AllSubjects();

/// The one of Subjects() of that full name. REQUIRES: there is one.
const Subject& SubjectNamed(std::string_view full_name);

}  // namespace harena::pb::codec::test
