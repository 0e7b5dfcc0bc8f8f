#include "harena/pb/codec/flat_parse.h"

#include <cstring>

#include "harena/pb/codec/scratch.h"

#if HARENA_CODEC
namespace harena::pb::codec {

FlatResult ParseFlat(google::protobuf::MessageLite& message, google::protobuf::Arena& arena,
                     const MessageParser& type, const Parser::Options& options, size_t wire_bytes,
                     bool (*copy)(void* state, char* to), void* state) {
  Budget* const budget = options.outside == nullptr ? nullptr : &options.outside->budget();
  Parser parser(arena, options);
  Scratch gathered(*options.pool, budget);
  const bool kept = parser.frozen() && type.facts.has_text;
  const size_t bits_bytes =
      kept && type.facts.has_utf8 ? HighBits::BytesFor(wire_bytes) : size_t{0};
  char* const wire =
      kept ? parser.KeepWire(wire_bytes + bits_bytes) : gathered.Take(wire_bytes + kWireSlackBytes);
  if (!copy(state, wire)) return {};
  std::memset(wire + wire_bytes, 0, kWireSlackBytes);
  if (bits_bytes != 0) {
    HighBits high_bits;
    high_bits.Fill(reinterpret_cast<uint8_t*>(wire + wire_bytes + kWireSlackBytes), wire,
                   wire_bytes);
    parser.SetWire(wire, high_bits);
  }
  const bool ok = type.parse(message, wire, wire + wire_bytes, parser);
  return {.ok = ok, .too_deep = parser.too_deep(), .required_in_doubt = parser.required_in_doubt()};
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
