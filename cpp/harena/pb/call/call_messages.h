// The messages of one call, from the scope to its end, for every framework.
#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include "harena/mem/budget.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/call/method.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope.h"

namespace harena::pb {

/// Request, response and scope of one call. The scope's mode decides where the messages live and
/// who parses the request; adapters do not ask for it. It ends with the messages, whose scope it
/// holds: an adapter's object that stands on that scope moves it out before it ends itself, see
/// EndOnOwnScope().
/// Thread rule: made, filled and ended one after the other, each on any thread.
class CallMessages {
 public:
  /// Takes a scope of `method` and makes both messages on it. Nothing when memory is refused;
  /// `*refusal` says why.
  static std::optional<CallMessages> TryMake(Method& method, Refusal* refusal) noexcept;
  /// The same for a T(args..., CallMessages) on the messages' own scope, so that a call costs no
  /// allocation for it. T's constructor is noexcept.
  template <typename T, typename... Args>
  static T* TryMakeOnScope(Method& method, Refusal* refusal, Args&&... args) noexcept {
    std::optional<CallMessages> messages = TryMake(method, refusal);
    if (!messages) return nullptr;
    void* const place = messages->scope().arena().TryAllocate(sizeof(T), alignof(T), refusal);
    if (place == nullptr) return nullptr;
    return ::new (place) T(std::forward<Args>(args)..., *std::move(messages));
  }
  /// Ends what TryMakeOnScope() made. `messages` is part of `object` and holds the memory that it
  /// stands in, so it leaves first and ends last.
  template <typename T>
  static void EndOnOwnScope(T& object, CallMessages& messages) noexcept {
    const CallMessages last = std::move(messages);
    object.~T();
  }

  CallMessages(CallMessages&&) noexcept = default;
  CallMessages& operator=(CallMessages&&) = delete;

  Scope& scope() noexcept { return scope_; }
  google::protobuf::MessageLite& request() noexcept { return *request_; }
  google::protobuf::MessageLite& response() noexcept { return *response_; }

  /// Parses the request within the scope's limits. `type` is codec::ParserOf<its class>(). Whoever
  /// gets the request afterwards gets it as const. Thread rule: the scope's thread.
  ParseResult Parse(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                    const codec::MessageParser* type) noexcept;

  /// Where the framework parses the request itself, once: has that parse held to the scope's
  /// limits. MessageArena::ExpectParse() has the terms.
  void ExpectParse(RequiredFields fields) noexcept;
  /// What came of it: why it was refused memory, or null; whether the input was bad.
  const Refusal* refused_parse() const noexcept;
  bool malformed_parse() const noexcept { return arena_ != nullptr && arena_->malformed_parse(); }

  /// Runs `work`, the user's code for this call, within the scope's limit on this thread. Why it
  /// was refused memory, where it was: then an exception has unwound it.
  template <typename Work>
  std::optional<Refusal> RunWithinBudget(Work&& work) {
    try {
      const BudgetFrame frame(scope_.budget());
      std::forward<Work>(work)();
      return std::nullopt;
    } catch (const std::bad_alloc& exceeded) {
      return RefusalOf(exceeded);
    }
  }

 private:
  CallMessages(Method& method, Scope scope);

  Scope scope_;
  google::protobuf::MessageLite* request_ = nullptr;
  google::protobuf::MessageLite* response_ = nullptr;
  MessageArena* arena_ = nullptr;  // of both; null in modes `heap` and `reuse`
};

}  // namespace harena::pb
