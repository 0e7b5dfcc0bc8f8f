#pragma once

#include <optional>

#include "harena/adapters/grpc/call.h"
#include "harena/base/check.h"
#include "harena/pb/arena/message.h"
#include "harena/scope/scope_pool.h"

namespace harena::grpc {

/// The message of a stream, on a scope of its own that is renewed for each read or write: a stream
/// of a million messages takes the memory of one.
///
///   harena::grpc::StreamMessage<Feed> feed(feeds);
///   while (stream->Read(feed.Renew())) Use(feed.message());
///
/// Works with every stream whose messages the caller owns; docs/grpc.md has the table. gRPC parses
/// them in frames of its own, so their memory is counted but not refused.
/// Thread rule: thread-compatible. Lifetime rule: the message is valid until the next Renew(); for
/// asynchronous writes do not renew before the write's completion.
template <typename Message>
class StreamMessage {
 public:
  /// REQUIRES: `scopes` was made with MessagesMayThrow::kNo (checked by Renew()).
  /// Lifetime rule: `scopes` must outlive it.
  explicit StreamMessage(ScopePool& scopes) : scopes_(scopes) {}

  /// Ends the last message with all its memory and gives a new, empty one. No limit refuses it.
  /// Throws std::bad_alloc when the system has no memory.
  Message* Renew() {
    message_ = nullptr;
    scope_.reset();
    scope_.emplace(scopes_.Acquire());
    HARENA_CHECK(!scope_->messages_may_throw(), kMessagesMustNotThrow);
    message_ = scope_->CreateMessage<Message>();
    return message_;
  }

  /// REQUIRES: Renew() was called.
  Message& message() noexcept { return *message_; }
  Scope& scope() noexcept { return *scope_; }

 private:
  ScopePool& scopes_;
  std::optional<Scope> scope_;
  Message* message_ = nullptr;
};

}  // namespace harena::grpc
