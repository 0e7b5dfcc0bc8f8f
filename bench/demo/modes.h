#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harena/bench/v1/demo.grpc.pb.h"

namespace harena::bench {

/// What the server registers with gRPC for one memory mode. Outlives the gRPC server.
class ModeSeam {
 public:
  virtual ~ModeSeam() = default;
  virtual ::grpc::Service* service() = 0;
};

/// The names that MakeModeSeam knows. A program whose types carry the generated codec has the mode
/// `codec` alone; every other has the rest, heap first, the baseline of every comparison.
std::vector<std::string> ModeNames();

/// Puts `service` into the named mode. `heap` is gRPC by itself: the service is registered as it is
/// and no Harena code runs. `service` must outlive the result.
/// Throws std::invalid_argument for an unknown name.
std::unique_ptr<ModeSeam> MakeModeSeam(std::string_view mode,
                                       v1::DemoService::CallbackService& service);

}  // namespace harena::bench
