#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/messages/runner.h"

namespace harena::bench {

/// small_proto2, small_proto3: a message of 228 bytes, parsed, written again and ended.
std::vector<std::string> SmallNames();

/// Traffic of one of SmallNames(); null for any other name.
std::unique_ptr<Traffic> MakeSmallTraffic(std::string_view name);

}  // namespace harena::bench
