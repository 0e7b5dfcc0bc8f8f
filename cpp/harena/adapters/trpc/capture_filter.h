// Captures sampled unary calls of a tRPC-Cpp server for `harena replay`, through tRPC's own
// filters: a server without a line of Harena besides this can be captured too.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <trpc/filter/server_filter_base.h>
#include <trpc/server/server_context.h>

#include "harena/pb/capture/capture.h"

namespace harena::trpc {

/// In the application's RegisterPlugins(), and by its name in the configuration (server: filter:
/// [harena_capture]):
///
///   trpc::TrpcPlugin::GetInstance()->RegisterServerFilter(
///       std::make_shared<harena::trpc::CaptureFilter>(capture,
///                                                     std::set<std::string>{"/feed.Rank/Run"}));
///
/// A captured call has its request and its response serialized once more, on the call's thread.
/// Calls that fail or are refused are not captured; of calls that answer later, those that answer
/// nothing. REQUIRES: `methods` take and give protobuf messages, in protobuf's encoding or in JSON,
/// also where they answer later; they do not stream. Thread rule: as tRPC calls it. Lifetime rule:
/// `capture` outlives the server.
class CaptureFilter final : public ::trpc::MessageServerFilter {
 public:
  /// The names as in the generated code: "/package.Service/Method".
  CaptureFilter(pb::Capture& capture, std::set<std::string> methods)
      : capture_(capture), methods_(std::move(methods)) {}

  std::string Name() override { return "harena_capture"; }
  std::vector<::trpc::FilterPoint> GetFilterPoint() override {
    return {::trpc::FilterPoint::SERVER_PRE_RPC_INVOKE,
            ::trpc::FilterPoint::SERVER_POST_RPC_INVOKE};
  }
  void operator()(::trpc::FilterStatus& status, ::trpc::FilterPoint point,
                  const ::trpc::ServerContextPtr& context) override;

 private:
  pb::Capture& capture_;
  const std::set<std::string> methods_;
};

}  // namespace harena::trpc
