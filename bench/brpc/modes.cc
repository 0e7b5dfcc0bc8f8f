#include "bench/brpc/modes.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "harena/adapters/brpc/message_factory.h"
#include "harena/scope/mode.h"

namespace harena::bench {

// Not the codec's types in the other modes: the rows of those are for messages as protoc alone
// writes them.
std::vector<std::string> BrpcModeNames() {
#ifdef HARENA_BENCH_CODEC
  return {"codec"};
#else
  return {"heap", "brpc_arena", "pages", "reuse"};
#endif
}

std::unique_ptr<::brpc::RpcPBMessageFactory> MakeFactory(std::string_view name) {
  const std::vector<std::string> names = BrpcModeNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw std::invalid_argument("no mode named " + std::string(name));
  }
  if (name == "heap") return nullptr;
  using Factory = ::brpc::RpcPBMessageFactory;
  if (name == "brpc_arena") {
    return std::unique_ptr<Factory>(::brpc::GetArenaRpcPBMessageFactory());
  }
  return std::make_unique<harena::brpc::MessageFactory>(Options{.mode = *ParseMode(name)});
}

}  // namespace harena::bench
