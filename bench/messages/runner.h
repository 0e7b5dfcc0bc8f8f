#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/messages/phases.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {

/// What a request's message memory can be had from in this program. One whose types carry the
/// generated codec has the mode `codec` alone; every other has Harena's remaining modes by their
/// names, and
///   heap_clear   messages on the heap, kept and cleared: reuse with protobuf alone
///   arena        protobuf's own arena with its default options, without Harena
/// in which heap and arena contain no line of Harena either.
std::vector<std::string> MessageModes();

/// What no parser and serializer can go below; these have no messages and no handler:
///   bound_memcpy  as parse a copy of the request's bytes, as serialize another
///   bound_scan    as parse a scan that checks the request against its schema (wire_scan.h)
std::vector<std::string> BoundModes();

/// Handles requests of one method in one mode, as a server would.
/// Thread rule: one thread at a time; make one per thread. What a service shares between threads
/// (page pool, kept messages) is shared here too.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Parses `wire`, runs the handler, serializes the response, ends both messages.
  /// Throws std::runtime_error when the request does not parse.
  virtual Phases Run(std::string_view wire) = 0;
  /// The same for a request and a response that are filled and thrown away, without wire bytes.
  /// Bounds throw std::logic_error: they have nothing to fill.
  virtual void Fill() = 0;
  /// The last response's bytes.
  virtual std::string_view response() const = 0;
};

/// Runners of one mode and method, which share what the threads of a service share.
class RunnerFactory {
 public:
  virtual ~RunnerFactory() = default;
  virtual std::unique_ptr<Runner> Make() = 0;
};

/// Throws std::invalid_argument for an unknown mode. `workload` must outlive the factory.
std::unique_ptr<RunnerFactory> MakeRunnerFactory(std::string_view mode, const Workload& workload);

/// A bound's factory; null when `mode` is none of BoundModes().
std::unique_ptr<RunnerFactory> MakeBoundFactory(std::string_view mode, const Workload& workload);

}  // namespace harena::bench
