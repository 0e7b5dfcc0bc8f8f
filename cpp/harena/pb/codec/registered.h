#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace harena::pb {

/// A message type that protoc-gen-harena has seen, and what came of it.
struct CodecMessage {
  std::string_view name;       ///< "package.Message"
  std::string_view why_stock;  ///< Why protobuf's own code serves it; empty when it has a codec.
};

/// What of the generated codec works in this program.
struct CapabilityReport {
  std::string protobuf_version;  ///< Of the headers compiled against: "3.21.12", "36.2".
  bool codec = false;            ///< Generated parsers and serializers act.
  bool serializer = false;       ///< Generated serializers act, with or without parsers.
  /// The strings of frozen messages live in scopes. False where std::string is not as compiled for.
  bool arena_strings = false;
  std::string why_not;  ///< Why one of these is false; empty when none is.
  std::vector<CodecMessage>
      messages;  ///< Of every linked .pb.cc that was generated with the codec.

  /// Several lines for people.
  std::string ToText() const;
};

/// Thread rule: any thread, from main() on.
CapabilityReport Capabilities();

namespace codec {

/// A static object of every generated .pb.cc: puts the file's messages on Capabilities()' list.
/// Lifetime rule: of its program or shared library; `messages` likewise.
class Registration {
 public:
  template <size_t kCount>
  explicit Registration(const CodecMessage (&messages)[kCount]) noexcept
      : Registration(messages, kCount) {}
  Registration(const CodecMessage* messages, size_t count) noexcept;
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  friend CapabilityReport pb::Capabilities();
  const CodecMessage* messages_;
  size_t count_;
  Registration* next_;
};

}  // namespace codec
}  // namespace harena::pb
