// What a generated parser leaves to protobuf, a field at a time: messages without a codec,
// extensions, unknown fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include <google/protobuf/extension_set.h>
#include <google/protobuf/message.h>
#include <google/protobuf/parse_context.h>
#include <google/protobuf/unknown_field_set.h>

#include "harena/pb/codec/parser.h"
#include "harena/pb/layout/names.h"
#include "harena/pb/layout/parse_table.h"

#if HARENA_CODEC
namespace harena::pb::codec {

/// Where the field behind `tag` ends that stands at `ptr`; null when it is no field, goes beyond
/// `end` or nests too deep.
const char* SkipField(uint32_t tag, const char* ptr, const char* end, Parser& parser) noexcept;

/// The same behind a group's start tag; `*body_end` is where its end tag stands.
const char* SkipGroup(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                      const char** body_end) noexcept;

/// Whether `tag` ends a message: a group's end, or 0.
inline bool EndsMessage(uint32_t tag) noexcept { return tag == 0 || (tag & 7) == 4; }

/// Keeps the field behind `tag` as an unknown field of the message that has `metadata`, and counts
/// it. Where it ends; null on bad input. Throws BudgetExceeded.
const char* ReadUnknown(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                        google::protobuf::internal::InternalMetadata& metadata);

/// Keeps a value that has no name in a closed enum as an unknown field, and counts it. Throws
/// BudgetExceeded.
void AddUnknownEnum(Parser& parser, int number, uint64_t value,
                    google::protobuf::internal::InternalMetadata& metadata);
/// Counts an entry of a map that protobuf reads, and may keep as an unknown field. Throws
/// BudgetExceeded.
void ChargeUnknownEntry(Parser& parser, size_t entry_bytes);

/// Has protobuf parse [ptr, end) by `read`, which gets a pointer and a context and gives back where
/// it ended: at the end, or the input was bad. One level deeper than the parser is.
template <typename Read>
bool ReadInContext(const char* ptr, const char* end, int levels_left, Read read) {
  const char* at;
  google::protobuf::internal::ParseContext context(
      levels_left, /*aliasing=*/false, &at, ProtobufText(ptr, static_cast<size_t>(end - ptr)));
  at = read(at, &context);
  return at != nullptr && context.Done(&at) && at != nullptr && context.EndedAtLimit();
}

/// Has protobuf parse a message, and counts what that may take. Throws BudgetExceeded.
bool ReadByProtobuf(const char* ptr, const char* end, Parser& parser,
                    google::protobuf::MessageLite& message);

/// Has protobuf parse the extension behind `tag`, of a message that has `extensions` and `metadata`
/// and is of the type of `prototype`. `field` is where the tag stands, and `ptr` what comes behind.
/// Where it ends; null on bad input. Throws BudgetExceeded.
const char* ReadExtension(const char* field, uint32_t tag, const char* ptr, const char* end,
                          Parser& parser, const google::protobuf::Message& prototype,
                          google::protobuf::internal::ExtensionSet& extensions,
                          google::protobuf::internal::InternalMetadata& metadata);

/// Has protobuf read the entry of a map behind `tag` into `message`, by protobuf's own table for
/// the message. Enums of a closed set need it: what has no name is kept among the unknown fields.
const char* ReadMapEntryByTable(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                                google::protobuf::MessageLite& message,
                                const google::protobuf::internal::TcParseTableBase* stock);

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
