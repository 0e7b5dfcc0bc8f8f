#include "harena/adapters/brpc/live_requests.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "harena/adapters/brpc/scope_of.h"
#include "harena/base/check.h"

namespace harena::brpc {
namespace {

struct alignas(64) Shard {
  std::mutex mutex;
  LiveRequest* first = nullptr;
};

Shard& ShardOf(const google::protobuf::Message* response) noexcept {
  constexpr size_t kShardBits = 9;
  // Never destroyed: servers may be static objects too.
  static auto& shards = *new std::array<Shard, size_t{1} << kShardBits>;
  const auto address = reinterpret_cast<uintptr_t>(response);
  return shards[address * uint64_t{0x9e3779b97f4a7c15} >> (64 - kShardBits)];
}

}  // namespace

void AddLiveRequest(LiveRequest& request) noexcept {
  Shard& shard = ShardOf(request.response);
  std::lock_guard lock(shard.mutex);
  request.next = shard.first;
  shard.first = &request;
}

void RemoveLiveRequest(LiveRequest& request) noexcept {
  Shard& shard = ShardOf(request.response);
  std::lock_guard lock(shard.mutex);
  for (LiveRequest** link = &shard.first; *link != nullptr; link = &(*link)->next) {
    if (*link != &request) continue;
    *link = request.next;
    return;
  }
}

Scope* FindScope(const google::protobuf::Message& response) noexcept {
  Shard& shard = ShardOf(&response);
  std::lock_guard lock(shard.mutex);
  for (const LiveRequest* request = shard.first; request != nullptr; request = request->next) {
    if (request->response == &response) return request->scope;
  }
  return nullptr;
}

Scope& ScopeOf(const google::protobuf::Message& response) {
  Scope* scope = FindScope(response);
  HARENA_CHECK(
      scope != nullptr,
      "ScopeOf: this response has no scope. Pass the response that brpc gave to the handler, "
      "before `done` runs, of a server whose ServerOptions::rpc_pb_message_factory is a "
      "harena::brpc::MessageFactory and whose protocol asks it (baidu_std, http, h2); or "
      "use FindScope()");
  return *scope;
}

}  // namespace harena::brpc
