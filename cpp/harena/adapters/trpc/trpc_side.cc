#include "harena/adapters/trpc/trpc_side.h"

#include <trpc/runtime/common/stats/frame_stats.h>
#include <trpc/server/method_handler.h>
#include <trpc/tvar/basic_ops/passive_status.h>

namespace harena::trpc::trpc_side {

void SetArenaOptions(const google::protobuf::ArenaOptions& options) {
  ::trpc::SetGlobalArenaOptions(options);
}

google::protobuf::Arena* NewArena() { return ::trpc::GeneratePbArenaPtr(); }

bool HasServedRequests() {
  const ::trpc::ServerStats& stats = ::trpc::FrameStats::GetInstance()->GetServerStats();
  return stats.GetReqConcurrency() != 0 || stats.GetTotalReqCount() != 0;
}

void ShowVariable(const std::string& path, const std::function<uint64_t()>& get) {
  // Never destroyed, as what it shows is not.
  new ::trpc::tvar::PassiveStatus<uint64_t>(path, get);
}

}  // namespace harena::trpc::trpc_side
