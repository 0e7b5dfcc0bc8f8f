#include <iostream>
#include <memory>
#include <string>

#include <google/protobuf/struct.pb.h>

#define TRPC_PROTO_USE_ARENA
#include "harena/adapters/trpc/call.h"
#include "harena/adapters/trpc/use_pages.h"

// What of tRPC the page's examples name. Its own headers do not compile as C++20.
namespace trpc {
void SetGlobalArenaOptions(const google::protobuf::ArenaOptions& options);
struct Context;
using ClientContextPtr = std::shared_ptr<Context>;
struct Status {
  bool OK() const;
};
struct Proxy;
ClientContextPtr MakeClientContext(const std::shared_ptr<Proxy>& proxy);
struct Proxy {
  Status Rank(const ClientContextPtr&, const google::protobuf::Struct&, google::protobuf::Struct*);
};
}  // namespace trpc

namespace feed {
using Request = google::protobuf::Struct;
using Response = google::protobuf::Struct;
struct RankImpl {};
}  // namespace feed

using namespace feed;

extern std::shared_ptr<trpc::Proxy> proxy;
void RegisterService(const std::string& name, std::shared_ptr<RankImpl> service);
inline void FillIn(Request&) {}
inline void Use(const Response&) {}
