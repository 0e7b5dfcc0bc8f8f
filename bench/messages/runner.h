#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/messages/phases.h"

namespace harena::bench {

/// What a request's message memory can be had from in a program. One whose types carry the
/// generated codec has the mode `codec` alone; every other has Harena's remaining modes by their
/// names, and
///   heap_clear   messages on the heap, kept and cleared: reuse with protobuf alone
///   arena        protobuf's own arena with its default options, without Harena
/// in which heap and arena contain no line of Harena either.
std::vector<std::string> MessageModes(bool types_carry_codec);

/// Handles requests of one method in one mode, as a server would. Requests are named by their
/// number in the traffic that the runner was made for.
/// Thread rule: one thread at a time; make one per thread. What a service shares between threads
/// (page pool, kept messages) is shared here too.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Parses request `number`, runs the handler, serializes the response, ends both messages.
  /// Throws std::runtime_error when the request does not parse.
  virtual Phases Run(size_t number) = 0;
  /// The same for a request and a response that are filled and thrown away, without wire bytes.
  /// Bounds throw std::logic_error: they have nothing to fill.
  virtual void Fill() = 0;
  /// What the handler reads of request `number`, and the response to it: each in wire bytes that
  /// are equal for equal messages. Bounds throw std::logic_error. Not measured.
  virtual std::string Answer(size_t number) = 0;
  /// The bytes of the last response that Run() made.
  virtual std::string_view response() const = 0;
};

/// Runners of one mode and method, which share what the threads of a service share.
class RunnerFactory {
 public:
  virtual ~RunnerFactory() = default;
  virtual std::unique_ptr<Runner> Make() = 0;
};

/// The requests of one method that a program measures, and who handles them.
/// Immutable once made, so that threads may share it. Lifetime rule: outlives its factories.
class Traffic {
 public:
  virtual ~Traffic() = default;
  virtual const std::string& name() const = 0;
  /// Wire bytes, at least one. Callers go through them in turn.
  virtual const std::vector<std::string>& requests() const = 0;
  /// Throws std::invalid_argument for a mode that these types do not have.
  virtual std::unique_ptr<RunnerFactory> MakeRunners(std::string_view mode) const = 0;
};

}  // namespace harena::bench
