#include "harena/adapters/trpc/test_trpc_side.h"

#include "harena/adapters/trpc/trpc_side.h"

namespace harena::trpc {

bool test_served_requests = false;
bool test_ignore_options = false;
std::map<std::string, std::function<uint64_t()>> test_variables;

namespace trpc_side {
namespace {

google::protobuf::ArenaOptions global_options;

}  // namespace

void SetArenaOptions(const google::protobuf::ArenaOptions& options) {
  if (!test_ignore_options) global_options = options;
}

google::protobuf::Arena* NewArena() { return new google::protobuf::Arena(global_options); }

bool HasServedRequests() { return test_served_requests; }

void ShowVariable(const std::string& path, const std::function<uint64_t()>& get) {
  test_variables.emplace(path, get);
}

}  // namespace trpc_side
}  // namespace harena::trpc
