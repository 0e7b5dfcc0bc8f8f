#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <google/protobuf/struct.pb.h>
#include <trpc/common/trpc_app.h>
#include <trpc/common/trpc_plugin.h>
#include <trpc/server/rpc/rpc_service_impl.h>

#include "harena/adapters/trpc/capture_filter.h"
#include "harena/adapters/trpc/decompression.h"
#include "harena/adapters/trpc/scope_of.h"
#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/use_pages.h"
#include "harena/adapters/trpc/within_budget.h"
#include "harena/pb/arena/message.h"

namespace feed {
using Request = google::protobuf::Struct;
using Response = google::protobuf::Struct;
struct RankImpl : trpc::RpcServiceImpl {
  trpc::Status Run(trpc::ServerContextPtr, const Request*, Response*);
  trpc::Status Explain(trpc::ServerContextPtr, const Request*, Response*);
};
}  // namespace feed

using namespace feed;

extern harena::trpc::Services services;
extern trpc::ServerContextPtr context;
extern const Request* request;
extern Response* response;
void RegisterService(const std::string& name, std::shared_ptr<RankImpl> service);
void Answer(const Request& request, Response* response);
void Index(const Request& request);
