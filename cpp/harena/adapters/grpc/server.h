// Puts a gRPC service's callback-unary methods on scopes. The service's code stays as it is.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/impl/service_type.h>

#include "harena/adapters/grpc/method.h"
#include "harena/adapters/grpc/unary_handler.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"
#include "harena/scope/options.h"

namespace harena::grpc {

/// A server's options: defaults, and whole sets for single methods by their full name
/// ("/package.Service/Method").
struct ServerOptions {
  Options defaults = {};
  std::map<std::string, Options> methods = {};
  /// Bytes that all scopes of the process may take together, set for the whole process
  /// (ProcessBudget()) when the server is made. 0 leaves that limit as it is.
  size_t process_bytes_max = 0;
  /// How often idle memory is looked for, so that a server without traffic gives it back too. Zero
  /// turns the background thread off; pools then decay only while they are used.
  std::chrono::milliseconds decay_interval{1000};
  /// When no request came for the page pool's `decay_after`, ask malloc too to give free memory
  /// back (glibc's malloc_trim): strings and gRPC's buffers are on the heap. Needs decay_interval.
  bool trim_heap_when_idle = true;
  /// Whether the first server of the process tries out at its start what protects memory, and says
  /// in one line what is on (SelfCheck(), with the default options' pool).
  bool self_check = true;
};

/// A method that stays as gRPC serves it by itself, and why.
struct UncoveredMethod {
  std::string name;
  std::string reason;
};

/// `service` as the part of it that gRPC's `Mixin` (one of the generated With...Method_X) put
/// there. For generated code.
template <template <typename> class Mixin, typename Base>
Mixin<Base>* AsMixin(Mixin<Base>* service) noexcept {
  return service;
}

/// Whether a class of services was put together with one of these mixins.
template <typename Service, template <typename> class... Mixins>
concept Mixes = (requires(Service * service) { AsMixin<Mixins>(service); } || ...);

/// Collects a service's methods; called by generated code only.
class Installer {
 public:
  Installer(::grpc::Service& service, const ServerOptions& options) noexcept
      : service_(service), options_(options) {}

  /// Replaces the handler of method `index`. `call` reaches the user's handler.
  template <typename Request, typename Response>
  void Unary(int index, const char* name, typename UnaryHandler<Request, Response>::Call call) {
    const auto chosen = options_.methods.find(name);
    auto method = std::make_shared<Method>(
        name, chosen != options_.methods.end() ? chosen->second : options_.defaults,
        Request::default_instance(), Response::default_instance(),
        MessageTypes::Of<Request, Response>());
    methods_.push_back(method);
    Access::Mark(service_, index,
                 new UnaryHandler<Request, Response>(std::move(method), std::move(call)));
  }

  void Uncovered(const char* name, const char* reason) { uncovered_.push_back({name, reason}); }

 private:
  friend class Server;

  // grpc::Service lets derived classes replace handlers; generated services do it the same way.
  struct Access : ::grpc::Service {
    static void Mark(::grpc::Service& service, int index,
                     ::grpc::internal::MethodHandler* handler) {
      (service.*(&Access::MarkMethodCallback))(index, handler);
    }
  };

  ::grpc::Service& service_;
  const ServerOptions& options_;
  std::vector<std::shared_ptr<Method>> methods_;
  std::vector<UncoveredMethod> uncovered_;
};

/// Wraps a service so that every callback-unary method of it runs on scopes:
///
///   FeedService service;                                    // handlers unchanged
///   harena::grpc::Server scoped(service, {.request_bytes_max = 64 << 20});
///   builder.RegisterService(scoped.service());
///
/// Needs the generated `<name>.harena.grpc.h` of the service in scope. Streaming, raw and
/// synchronous methods stay as they are; uncovered() lists them.
///
/// Thread rule: construct it before the service is registered; afterwards any thread.
/// Lifetime rule: must outlive the grpc::Server, as the service must. Detached scopes may outlive
/// it.
class Server : private pb::MethodSet {
 public:
  /// REQUIRES: the options are valid (checked; the message says what is wrong).
  template <typename Service>
  explicit Server(Service& service, const Options& defaults = {})
      : Server(service, ServerOptions{.defaults = defaults}) {}

  template <typename Service>
  Server(Service& service, const ServerOptions& options)
      : pb::MethodSet("grpc"), service_(service) {
    static_assert(
        requires(Installer & installer) { HarenaInstall(service, installer); },
        "harena::grpc::Server needs the generated installer of this service: run protoc with "
        "--harena_out (CMake: harena_generate) and include <name>.harena.grpc.h");
    Installer installer(service, options);
    HarenaInstall(service, installer);
    Adopt(installer);
  }

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What to register with the grpc::ServerBuilder.
  ::grpc::Service* service() noexcept { return &service_; }

  /// Changes the mode of every method, or of one by its full name, for requests from now on. The
  /// answer says what is wrong (an unknown method, a mode that cannot hold the method's limit);
  /// then nothing has changed.
  using pb::MethodSet::SetMode;
  /// Changes request_bytes_max likewise.
  using pb::MethodSet::SetRequestBytesMax;

  /// Changes any options that may change while the server runs (ScopePool::Change()), likewise:
  ///   scoped.Change([](harena::Options& o) { o.depth_max = 32; });
  using pb::MethodSet::Change;

  /// One entry per covered method, in the order of the .proto file.
  using pb::MethodSet::stats;
  /// Methods that stay as gRPC serves them, and why.
  const std::vector<UncoveredMethod>& uncovered() const noexcept { return uncovered_; }

 private:
  void Adopt(Installer& installer);
  void SayWhatHasNoCodec() const;

  ::grpc::Service& service_;
  std::vector<UncoveredMethod> uncovered_;
  pb::Published published_{*this};
};

}  // namespace harena::grpc
