// The names that differ between protobuf 3.21 and newer releases. The only file with such cases.
#pragma once

#include <concepts>

#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>

namespace harena::pb {

template <typename T>
concept ProtobufMessage = std::derived_from<T, google::protobuf::MessageLite>;

/// A T whose parts live on `arena`. 3.21 calls it CreateMessage (there Create() would put the shell
/// alone on the arena); from 30.0 on CreateMessage is gone and Create() does it.
/// Thread rule: any thread. Lifetime rule: lives as long as the arena; never deleted.
template <ProtobufMessage T, std::same_as<google::protobuf::Arena> Arena>
T* CreateOn(Arena& arena) {
  if constexpr (requires { Arena::template CreateMessage<T>(&arena); }) {
    return Arena::template CreateMessage<T>(&arena);
  } else {
    return Arena::template Create<T>(&arena);
  }
}

}  // namespace harena::pb
