#include "harena/pb/codec/string_ptr.h"

#include "harena/pb/message_arena.h"

#if HARENA_CODEC
namespace harena::pb::codec {

std::string* TryNewString(google::protobuf::Arena* arena, std::string_view text) {
  MessageArena* const home = MessageArena::FindCodec(arena);
  return home == nullptr ? nullptr : home->strings().TryMake(text);
}

std::string* TryAdoptString(google::protobuf::Arena* arena, std::string& text) {
  MessageArena* const home = MessageArena::FindCodec(arena);
  return home == nullptr ? nullptr : home->strings().TryMake(std::move(text));
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
