// All that Harena asks of tRPC. tRPC's headers are C++17 and do not compile as C++20, which is what
// Harena's are: trpc_side.cc, and nothing else of the library, is compiled as C++17 and includes
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <google/protobuf/arena.h>

namespace harena::trpc::trpc_side {

/// trpc::SetGlobalArenaOptions().
void SetArenaOptions(const google::protobuf::ArenaOptions& options);
/// An arena as tRPC makes two of for each unary call. The caller's to delete.
google::protobuf::Arena* NewArena();
/// Whether a ServerContext was ever made, which is what reads the options.
bool HasServedRequests();
/// A variable on tRPC's admin port, for the rest of the process. REQUIRES: `path` is new.
/// Thread rule: `get` is called on any thread.
void ShowVariable(const std::string& path, const std::function<uint64_t()>& get);

}  // namespace harena::trpc::trpc_side
