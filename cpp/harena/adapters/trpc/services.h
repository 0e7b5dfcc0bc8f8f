// tRPC services whose unary methods run on scopes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trpc/server/service.h>

#include "harena/adapters/trpc/method_handler.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"
#include "harena/scope/options.h"

namespace harena::trpc {

struct ServicesOptions {
  Options defaults = {};
  /// Bytes that all scopes of the process may take together, set for the whole process
  /// (ProcessBudget()) when it is made. 0 leaves that limit as it is.
  size_t process_bytes_max = 0;
  /// How often idle memory is looked for. Zero turns the background thread off.
  std::chrono::milliseconds decay_interval{1000};
  /// When no request came for the page pool's `decay_after`, ask malloc too to give free memory
  /// back (glibc's malloc_trim). Needs decay_interval.
  bool trim_heap_when_idle = true;
  /// Whether each method's counts are shown among tRPC's variables, below /harena/methods. A method
  /// whose name is shown already (by another Services) is not, and a warning says so.
  bool expose_vars = true;
  /// Whether the first Services of the process tries out at its start what protects memory, and
  /// says in one line what is on (SelfCheck(), with the default options' pool).
  bool self_check = true;

  /// What is wrong with these options and how to put it right; nullopt when nothing is.
  std::optional<std::string> Validate() const;
};

/// Serves unary methods on scopes, one scope per call: every mode, `codec` included, and limits.
/// Methods that it does not serve stay as they are. It needs C++20, so headers of tRPC-Cpp that
/// compile as such: see docs/trpc.md.
///
///   auto rank = std::make_shared<RankImpl>();
///   services.Serve(*rank, "/feed.Rank/Run", &RankImpl::Run);
///   RegisterService("trpc.feed.server.Rank", rank);
///
/// Thread rule: Serve() from one thread, before the service is registered; the rest from any.
/// Lifetime rule: the services may outlive it.
class Services : private pb::MethodSet {
 public:
  /// Stops the process and says what to change when `options.Validate()` finds something.
  explicit Services(const ServicesOptions& options = {});
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  /// Puts the method of that name (as in the generated code: "/package.Service/Method") on scopes.
  /// A name that `service` does not have, or that streams, stops the process and says so.
  template <typename Service, typename Owner, typename Request, typename Response>
  void Serve(Service& service, const std::string& name,
             ::trpc::Status (Owner::*method)(::trpc::ServerContextPtr, const Request*, Response*),
             std::optional<Options> options = std::nullopt) {
    Owner& owner = service;
    Replace(
        service, name, Request::default_instance(), Response::default_instance(),
        pb::MessageTypes::Of<Request, Response>(),
        [&owner, method](const ::trpc::ServerContextPtr& context,
                         const google::protobuf::Message& request,
                         google::protobuf::Message& response) {
          return (owner.*method)(context, static_cast<const Request*>(&request),
                                 static_cast<Response*>(&response));
        },
        options.value_or(options_.defaults));
  }

  /// For requests from now on, of all methods or of one. The answer says what is wrong; then
  /// nothing has changed.
  using pb::MethodSet::SetMode;
  using pb::MethodSet::SetRequestBytesMax;
  /// Any options that may change while the server runs (ScopePool::Change()).
  using pb::MethodSet::Change;

  using pb::MethodSet::stats;

 private:
  void Replace(::trpc::Service& service, const std::string& name,
               const google::protobuf::Message& request_prototype,
               const google::protobuf::Message& response_prototype, pb::MessageTypes types,
               MethodHandler::Run run, const Options& options);
  void Show(const std::shared_ptr<const pb::Method>& method);

  const ServicesOptions options_;
  pb::Published published_{*this};
  // tRPC's variables, whose header needs jsoncpp.
  std::vector<std::shared_ptr<void>> vars_;
};

}  // namespace harena::trpc
