#pragma once

#include <memory>

#include "bench/messages/runner.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {

/// A workload's requests under its own handler, in this program's modes and in those of
/// BoundModes().
std::unique_ptr<Traffic> MakeTraffic(const Workload& workload);

}  // namespace harena::bench
