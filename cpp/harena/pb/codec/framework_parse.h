// How protobuf's own entries, and so the frameworks that call them, come to a generated parser.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/codec/access.h"

#if HARENA_CODEC
namespace harena::pb::codec {

/// protobuf's own parser for the message.
using StockParse = const char* (*)(void* state);

/// What is left of `context` from `ptr` on, parsed into `message` on the arena of `messages`: by
/// `type`'s parser where there is a reason to, else by `stock`. Where it ended; null when the input
/// is bad or a budget refused.
const char* ParseInContext(MessageArena& messages, google::protobuf::MessageLite& message,
                           const MessageParser& type, const char* ptr,
                           google::protobuf::internal::ParseContext& context, StockParse stock,
                           void* state);

/// What a generated _InternalParse() does. `stock` is protobuf's own.
template <typename T, typename Stock>
const char* ParseOrStock(T& message, const char* ptr,
                         google::protobuf::internal::ParseContext* context, Stock stock) {
  MessageArena* const messages = MessageArena::Find(message.GetArena());
  if (HARENA_LIKELY(messages == nullptr)) return stock();
  return ParseInContext(
      *messages, message, kParserOf<T>, ptr, *context,
      [](void* state) { return (*static_cast<Stock*>(state))(); }, &stock);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
