// The parse tables of protobuf 29 and later, taken over: classes parse by tables, of a type which
// protoc writes as ::google::protobuf::internal::TcParseTable<...>,
// and generated code makes TcParseTable a macro for HarenaTable<HarenaTableOf>::Of there. A class
// with a codec has a type HarenaTableOf, which is itself; every other class finds the one of the
// global namespace and keeps protobuf's table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <google/protobuf/generated_message_tctable_decl.h>
#include <google/protobuf/generated_message_tctable_impl.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/family.h"

#if HARENA_CODEC && HARENA_PARSES_BY_TABLE
struct HarenaTableOf;

namespace harena::pb::layout {

/// Sets the bit that tells of a field. `has_index` is the number in the field's entry of the table:
/// the bit's place in the message. Where there is none it is below 0, or 0 when the message has no
/// such bits at all (up to 32).
template <typename Message>
HARENA_INLINE void SetHasBit(Message& message, int32_t has_index) noexcept {
  if (has_index <= 0) return;
  constexpr uint32_t kBits = 32;
  const auto index = static_cast<uint32_t>(has_index);
  char* const word = reinterpret_cast<char*>(&message) + index / kBits * sizeof(uint32_t);
  *reinterpret_cast<uint32_t*>(word) |= uint32_t{1} << (index % kBits);
}

}  // namespace harena::pb::layout

#include <google/protobuf/port_def.inc>
#ifndef PROTOBUF_CC  // the calling convention of parse functions, from 28 on
#define PROTOBUF_CC
#define HARENA_DEFINED_PROTOBUF_CC
#endif
namespace google::protobuf::internal {

/// protobuf's table behind one that has a single entry for all tags: the class's own function. The
/// one in front is a whole table: all that protoc works out with offsetof(ParseTableT_, ...) holds
/// from it. Whoever knows the table by its name or its place finds it. (protobuf has a table of
/// such an entry itself: CreateStubTcParseTable.)
template <typename T>
struct HarenaTable {
  static constexpr uint32_t kFrontBytes =
      sizeof(TcParseTableBase) + sizeof(TcParseTableBase::FastFieldEntry);

  static const TcParseTableBase* Stock(const TcParseTableBase* front) noexcept {
    return reinterpret_cast<const TcParseTableBase*>(reinterpret_cast<const char*>(front) +
                                                     kFrontBytes);
  }

  // The function that protobuf calls, with the pointer in front of a tag.
  static PROTOBUF_CC const char* Enter(PROTOBUF_TC_PARAM_DECL) {
    static_cast<void>(data);
    static_cast<void>(hasbits);
    return T::HarenaEnter(static_cast<T&>(*msg), ptr, ctx, Stock(table));
  }

  static constexpr TcParseTableBase Front(TcParseTableBase header) {
    header.fast_idx_mask = 0;
    // protobuf's loop over its own table runs it.
    header.has_post_loop_handler = 0;
    return header;
  }
  static constexpr TcParseTableBase::FastFieldEntry Entry() {
    return {&HarenaTable::Enter, TcFieldData(0, 0)};
  }
  // The offsets of protobuf's table count from itself.
  static constexpr TcParseTableBase Moved(TcParseTableBase header) {
    header.lookup_table_offset -= kFrontBytes;
    header.field_entries_offset -= kFrontBytes;
    header.aux_offset -= kFrontBytes;
    return header;
  }
  // From 36 on some entries hold the place of another entry in the table.
  template <typename Entries, typename Parser = TcParser>
  static constexpr Entries MovedEntries(Entries entries) {
    if constexpr (requires { &Parser::FastMiniParse1; }) {
      for (auto& entry : entries) {
        if (entry.target_function == &Parser::FastMiniParse1 ||
            entry.target_function == &Parser::FastMiniParse2) {
          entry.bits.data -= uint64_t{kFrontBytes} << 32;
        }
      }
    }
    return entries;
  }

  template <size_t kFastBits, size_t kFields, size_t kAux, size_t kNames, size_t kLookup>
  struct Of {
    using Theirs = TcParseTable<kFastBits, kFields, kAux, kNames, kLookup>;
    TcParseTableBase header;
    TcParseTableBase::FastFieldEntry entry;
    TcParseTableBase stock;
    std::array<TcParseTableBase::FastFieldEntry, size_t{1} << kFastBits> fast_entries;
    std::array<uint16_t, kLookup> field_lookup_table;
    std::array<TcParseTableBase::FieldEntry, kFields> field_entries;
    std::array<TcParseTableBase::FieldAux, kAux> aux_entries;
    std::array<char, kNames == 0 ? 1 : kNames> field_names;

    constexpr Of(TcParseTableBase header_in, decltype(fast_entries) fast,
                 decltype(field_lookup_table) lookup, decltype(field_entries) entries,
                 decltype(aux_entries) aux, decltype(field_names) names)
        : header(Front(header_in)),
          entry(Entry()),
          stock(Moved(header_in)),
          fast_entries(MovedEntries(fast)),
          field_lookup_table(lookup),
          field_entries(entries),
          aux_entries(aux),
          field_names(names) {
      static_assert(offsetof(Of, stock) == kFrontBytes);
      static_assert(offsetof(Of, fast_entries) == kFrontBytes + offsetof(Theirs, fast_entries));
      static_assert(offsetof(Of, aux_entries) == kFrontBytes + offsetof(Theirs, aux_entries));
    }
  };

  template <size_t kFastBits, size_t kFields, size_t kNames, size_t kLookup>
  struct Of<kFastBits, kFields, 0, kNames, kLookup> {
    using Theirs = TcParseTable<kFastBits, kFields, 0, kNames, kLookup>;
    TcParseTableBase header;
    TcParseTableBase::FastFieldEntry entry;
    TcParseTableBase stock;
    std::array<TcParseTableBase::FastFieldEntry, size_t{1} << kFastBits> fast_entries;
    std::array<uint16_t, kLookup> field_lookup_table;
    std::array<TcParseTableBase::FieldEntry, kFields> field_entries;
    std::array<char, kNames == 0 ? 1 : kNames> field_names;

    constexpr Of(TcParseTableBase header_in, decltype(fast_entries) fast,
                 decltype(field_lookup_table) lookup, decltype(field_entries) entries,
                 decltype(field_names) names)
        : header(Front(header_in)),
          entry(Entry()),
          stock(Moved(header_in)),
          fast_entries(MovedEntries(fast)),
          field_lookup_table(lookup),
          field_entries(entries),
          field_names(names) {
      static_assert(offsetof(Of, stock) == kFrontBytes);
      static_assert(offsetof(Of, fast_entries) == kFrontBytes + offsetof(Theirs, fast_entries));
      static_assert(offsetof(Of, field_entries) == kFrontBytes + offsetof(Theirs, field_entries));
    }
  };
};

template <>
struct HarenaTable<::HarenaTableOf> {
  template <size_t kFastBits, size_t kFields, size_t kAux, size_t kNames, size_t kLookup>
  using Of = TcParseTable<kFastBits, kFields, kAux, kNames, kLookup>;
};

}  // namespace google::protobuf::internal
#ifdef HARENA_DEFINED_PROTOBUF_CC
#undef HARENA_DEFINED_PROTOBUF_CC
#undef PROTOBUF_CC
#endif
#include <google/protobuf/port_undef.inc>
#endif  // HARENA_PARSES_BY_TABLE
