// One parse under limits, and what was taken for it. Programs that link test_heap_bytes.cc only.
// Not installed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "harena/mem/page_pool.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/scope/options.h"

namespace harena::pb::codec::test {

/// What is parsed, and how its wire comes.
struct LimitedInput {
  const Subject& subject;
  std::string_view wire;
  size_t chunk_bytes = 1;  ///< Of each piece.
  bool kept = false;       ///< In mode `reuse`: the message has read the same wire before.
  /// By protobuf's own parser, as where a type has no codec; not in mode `codec`.
  bool by_protobuf = false;
};

/// What a parse did.
struct LimitedOutcome {
  ParseStatus status = ParseStatus::kOk;
  Refusal refusal;
  /// By the scope when the parse began; unlimited when it did not.
  size_t held_bytes = kUnlimitedBytes;
  size_t page_bytes = 0;    ///< Of the scope and of its messages, at the end.
  size_t heap_bytes = 0;    ///< The most while it parsed.
  size_t taken_bytes = 0;   ///< The most of both together, at one moment.
  size_t leaked_bytes = 0;  ///< What did not come back with the scope.
};

/// Parses on pages of a pool of its own. Thread rule: one thread.
class LimitedParses {
 public:
  using Look = std::function<void(const google::protobuf::MessageLite&)>;

  explicit LimitedParses(const PagePoolOptions& options) : pool_(options) {}

  /// `options` without a pool. Mode `heap` knows no limits and is not for this. REQUIRES: of mode
  /// `reuse`, that the type is reusable. A message that was accepted is shown to `look`.
  LimitedOutcome Run(const LimitedInput& input, Options options,
                     size_t process_bytes_max = kUnlimitedBytes, const Look& look = nullptr);

  PagePool& pool() noexcept { return pool_; }

 private:
  LimitedOutcome RunOnce(const LimitedInput& input, const Options& options,
                         size_t process_bytes_max, const Look& look);

  PagePool pool_;
};

/// What is made once for each type, and so is no leak, is made.
void MakeTablesOf(const Subject& subject);

/// Whether the type has maps whose keys are text, somewhere. Of such a map protobuf keeps a key
/// twice when its entry has more than a key and a value, in this order; and it loses one when it is
/// refused memory in the moment in which the map takes it in (docs/budgets.md has both).
bool HasTextKeys(const Subject& subject);

/// The longest key that HostileWire() makes, with the string's own 31 bytes at least.
inline constexpr size_t kLostKeyBytesMax = 31;

}  // namespace harena::pb::codec::test
