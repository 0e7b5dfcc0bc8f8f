// Puts the requests of a brpc server on scopes. The services' code stays as it is.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brpc/rpc_pb_message_factory.h>
#include <google/protobuf/service.h>

#include "harena/adapters/brpc/factory_options.h"
#include "harena/adapters/brpc/method_table.h"
#include "harena/base/fork_mutex.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::brpc {

class ShownVar;

/// Gives every method of a server its messages, on scopes:
///
///   brpc::ServerOptions options;
///   options.rpc_pb_message_factory = new harena::brpc::MessageFactory;
///   server.Start(8000, &options);
///
/// Asked by baidu_std, http and h2 (gRPC included). Methods appear in stats() with their first
/// request, or when they are named. brpc's own services (/vars, /flags and so on) are left alone.
///
/// Thread rule: any thread, any bthread.
/// Lifetime rule: made with new; the brpc::Server deletes it, one server one factory. It may be
/// used through a pointer until then. Detached scopes may outlive it.
class MessageFactory final : public ::brpc::RpcPBMessageFactory, private pb::MethodSet {
 public:
  /// REQUIRES: the options, with the flags that are set, are valid (checked; the message says what
  /// is wrong).
  explicit MessageFactory(const Options& defaults = {})
      : MessageFactory(FactoryOptions{.defaults = defaults}) {}
  explicit MessageFactory(const FactoryOptions& options);
  ~MessageFactory() override;
  MessageFactory(const MessageFactory&) = delete;
  MessageFactory& operator=(const MessageFactory&) = delete;

  /// Called by brpc.
  ::brpc::RpcPBMessages* Get(const google::protobuf::Service& service,
                             const google::protobuf::MethodDescriptor& method) override;
  void Return(::brpc::RpcPBMessages* messages) override;

  /// Changes the mode of every method, or of one by its full name, for requests from now on. The
  /// answer says what is wrong (an unknown method, a mode that cannot hold the method's limit);
  /// then nothing has changed.
  using pb::MethodSet::SetMode;
  /// Changes request_bytes_max likewise.
  using pb::MethodSet::SetRequestBytesMax;

  /// Changes any options that may change while the server runs (ScopePool::Change()), likewise.
  std::optional<std::string> Change(const Edit& edit) override;
  std::optional<std::string> Change(std::string_view method, const Edit& edit) override;

  /// One entry per method that had a request or was named.
  using pb::MethodSet::stats;

 private:
  // REQUIRES of both: change_ is held.
  const MethodEntry& Cover(const google::protobuf::MethodDescriptor& method,
                           const google::protobuf::Message& request_prototype,
                           const google::protobuf::Message& response_prototype);
  std::optional<std::string> CoverByName(std::string_view name);

  FactoryOptions options_;  // `defaults` change with Change() and are for methods yet to come
  ForkMutex change_;        // held while options_ or the set of methods change
  MethodTable table_;
  ::brpc::DefaultRpcPBMessageFactory plain_;  // for requests that have no scope
  std::vector<std::unique_ptr<ShownVar>> vars_;
  pb::Published published_{*this};
};

}  // namespace harena::brpc
