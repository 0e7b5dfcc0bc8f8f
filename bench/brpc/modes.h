#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <brpc/rpc_pb_message_factory.h>

namespace harena::bench {

/// The names that MakeFactory knows. A program whose types carry the generated codec has the mode
/// `codec` alone; every other has the rest, heap first, the baseline of every comparison.
std::vector<std::string> BrpcModeNames();

/// What gives a server its messages in the named mode: null in `heap`, where brpc is by itself, and
/// brpc's own in `brpc_arena`. Throws std::invalid_argument for an unknown name.
std::unique_ptr<::brpc::RpcPBMessageFactory> MakeFactory(std::string_view mode);

}  // namespace harena::bench
