// One RPC method of a server: its options, its scopes, its counts. Knows no message type.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <google/protobuf/message_lite.h>

#include "harena/base/compiler.h"
#include "harena/mem/budget.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/call/message_types.h"
#include "harena/scope/mode.h"
#include "harena/scope/options.h"
#include "harena/scope/scope_pool.h"

namespace harena::pb {

/// What a call is answered with when there is no memory for the words of a status. A string of this
/// length takes no allocation.
inline constexpr char kOutOfMemory[] = "out of memory";

/// Requests that a limit refused, by limit. Counts since the server was made.
struct RefusalCounts {
  uint64_t request_bytes_max = 0;
  uint64_t process_bytes_max = 0;
  uint64_t decoded_ratio_max = 0;
  uint64_t depth_max = 0;
  uint64_t memory = 0;  ///< No limit of ours: the system itself had none.

  uint64_t total() const noexcept {
    return request_bytes_max + process_bytes_max + decoded_ratio_max + depth_max + memory;
  }
};

/// Requests that were served from the heap although their mode says otherwise, by why. Counts since
/// the server was made.
struct FallbackCounts {
  uint64_t no_codec = 0;      ///< Mode `codec`, and no codec for the types: strings on the heap.
  uint64_t not_reusable = 0;  ///< Mode `reuse`, and types that cannot be kept: likewise.
  uint64_t no_scope = 0;      ///< No memory for a scope, in a framework that cannot be told: all.
};

/// What one method did. Counts since the server was made.
struct MethodStats {
  std::string name;            ///< As the framework writes it.
  Mode mode = Mode::kPages;    ///< As chosen.
  Mode served = Mode::kPages;  ///< As served: `pages` when the messages cannot be reused, or
                               ///< neither of them has a codec.
  uint64_t requests = 0;
  uint64_t malformed = 0;  ///< Requests that were no message of their type.
  uint64_t refused = 0;    ///< Requests that a limit refused.
  RefusalCounts refused_by;
  FallbackCounts fallbacks;
  ScopePoolStats scopes;
  MessageKeeperStats kept;  ///< Mode `reuse`.
};

/// What is wrong with options, where a `framework` ("brpc") parses requests by itself, as one
/// sentence that says what to do: they are not valid, or have a limit that it cannot hold. nullopt
/// when nothing is.
std::optional<std::string> WhyNotParsedBy(std::string_view framework, const Options& options);

/// Thread rule: any thread. Lifetime rule: shared by the server and every request in flight.
class Method {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked). Lifetime rule: the prototypes must
  /// outlive it.
  Method(std::string name, const Options& options,
         const google::protobuf::MessageLite& request_prototype,
         const google::protobuf::MessageLite& response_prototype, MessageTypes types);

  const std::string& name() const noexcept { return name_; }
  ScopePool& scopes() noexcept { return scopes_; }
  const ScopePool& scopes() const noexcept { return scopes_; }
  MessageKeeper& keeper() noexcept { return keeper_; }
  const google::protobuf::MessageLite& request_prototype() const noexcept { return request_; }
  const google::protobuf::MessageLite& response_prototype() const noexcept { return response_; }

  /// What is wrong with the changed options, or nullopt and they hold for requests from now on.
  /// ScopePool::Change() says which may change.
  std::optional<std::string> Change(const std::function<void(Options&)>& edit);
  /// How a request whose scope is of `mode` is served.
  Mode ServedAs(Mode mode) const noexcept;
  /// The same for a request that is served now, which counts it where it falls back.
  Mode Serve(Mode mode) noexcept {
    const Mode served = ServedAs(mode);
    if (HARENA_UNLIKELY(served != mode)) CountFallback(mode);
    return served;
  }
  /// Counts a request that is served without a scope, as there was no memory for one.
  void CountNoScope() noexcept { no_scope_.fetch_add(1, std::memory_order_relaxed); }

  uint64_t requests() const noexcept { return scopes_.requests(); }
  void CountRequest() noexcept { scopes_.CountRequest(); }
  void CountMalformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }
  RefusalCounts refused_by() const noexcept;
  /// Counts a refusal and says it as the client is to see it. Where there is no memory for the
  /// sentence either, it says "out of memory", which takes none.
  std::string Refuse(const Refusal& refusal) noexcept;

  /// Where `framework` ("brpc") parses requests by itself: says in the log what is not served as
  /// the options say.
  void SayWhatIsServedOtherwise(std::string_view framework) const;

  MethodStats stats() const;

 private:
  void SayIfNotReusable(Mode mode) const;
  void CountFallback(Mode mode) noexcept;

  const std::string name_;
  const google::protobuf::MessageLite& request_;
  const google::protobuf::MessageLite& response_;
  const MessageTypes types_;
  ScopePool scopes_;
  MessageKeeper keeper_;
  std::atomic<uint64_t> malformed_{0};
  std::atomic<uint64_t> no_codec_{0};
  std::atomic<uint64_t> not_reusable_{0};
  std::atomic<uint64_t> no_scope_{0};
  // In the order of RefusalCounts.
  std::array<std::atomic<uint64_t>, 5> refused_{};
};

}  // namespace harena::pb
