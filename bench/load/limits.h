// Limits on a server's command line, and what Harena counted, for servers of any framework.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harena/mem/page_pool.h"
#include "harena/pb/call/method.h"
#include "harena/scope/options.h"

namespace harena::bench {

/// Adds the limits to a command line. All of them have to stay until that is parsed.
inline void AddLimits(CLI::App& app, Options& options, size_t& process_bytes_max) {
  app.add_option("--request-bytes-max", options.request_bytes_max,
                 "Bytes that one request may take");
  app.add_option("--process-bytes-max", process_bytes_max,
                 "Bytes that all requests may take together");
  app.add_option("--decoded-ratio-max", options.decoded_ratio_max,
                 "Bytes that decoding may take per byte of the request");
  app.add_option("--depth-max", options.depth_max, "Levels of messages in a request");
  app.add_option("--quarantine-one-in", options.quarantine_one_in,
                 "One request in so many gets pages that nobody gets after it; 0 for none")
      ->capture_default_str();
}

/// Sums over the methods, under the names that the Go servers use.
inline nlohmann::json CountsOf(const std::vector<pb::MethodStats>& methods) {
  uint64_t made = 0, live = 0, refused = 0, sampled = 0;
  for (const pb::MethodStats& method : methods) {
    made += method.scopes.scopes_made;
    live += method.scopes.scopes_live();
    refused += method.refused;
    sampled += method.scopes.scopes_sampled;
  }
  const PagePoolStats pages = PagePool::Default().stats();
  return {{"scopes_made", made},
          {"scopes_live", live},
          {"refused", refused},
          {"sampled", sampled},
          {"bytes_in_use", pages.bytes_in_use},
          {"bytes_kept", pages.bytes_thread_cached + pages.bytes_retained}};
}

}  // namespace harena::bench
