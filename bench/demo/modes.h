#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harena/adapters/grpc/server.h"
#include "harena/bench/v1/demo.grpc.pb.h"

namespace harena::bench {

/// What the server registers with gRPC for one memory mode. Outlives the gRPC server.
class ModeSeam {
 public:
  virtual ~ModeSeam() = default;
  virtual ::grpc::Service* service() = 0;
  /// What Harena counted, per method; none where no Harena code runs.
  virtual std::vector<grpc::MethodStats> stats() const { return {}; }
};

/// The names that MakeModeSeam knows. A program whose types carry the generated codec has the mode
/// `codec` alone; every other has the rest, heap first, the baseline of every comparison.
std::vector<std::string> ModeNames();

/// Puts `service` into the named mode. `heap` is gRPC by itself: the service is registered as it is
/// and no Harena code runs. The defaults of `options` are for the other modes, without their mode.
/// `service` must outlive the result.
/// Throws std::invalid_argument for an unknown name, and for options that cannot be.
std::unique_ptr<ModeSeam> MakeModeSeam(std::string_view mode,
                                       v1::DemoService::CallbackService& service,
                                       const grpc::ServerOptions& options = {});

}  // namespace harena::bench
