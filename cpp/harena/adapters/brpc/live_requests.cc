#include "harena/adapters/brpc/live_requests.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

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

Scope* FindLiveRequest(const google::protobuf::Message& response) noexcept {
  Shard& shard = ShardOf(&response);
  std::lock_guard lock(shard.mutex);
  for (const LiveRequest* request = shard.first; request != nullptr; request = request->next) {
    if (request->response == &response) return request->scope;
  }
  return nullptr;
}

}  // namespace harena::brpc
