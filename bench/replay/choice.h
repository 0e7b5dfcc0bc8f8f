// Which of the captured calls are measured: one method's, good ones, not too many.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>

#include "bench/replay/capture_reader.h"

namespace harena::bench {

/// What the user says about the method; empty for what is to be found out.
struct MethodWish {
  std::string method = {};    ///< "/package.Service/Method"
  std::string request = {};   ///< A message's full name, instead of a method's.
  std::string response = {};  ///< Likewise; empty for requests alone.
};

/// The messages that the captured bytes are.
struct MethodTypes {
  std::string method = {};  ///< Empty when the types were named instead.
  const google::protobuf::Descriptor* request = nullptr;
  const google::protobuf::Descriptor* response = nullptr;  ///< Null for requests alone.
};

/// How many exchanges the capture has of each method; "" counts those that name none.
std::map<std::string, size_t> CountMethods(const Capture& capture);

/// Finds the types in `pool`: of the method that was asked for, else of the one with the most
/// exchanges. Throws std::runtime_error that says what to do when there are none, when a type is
/// unknown, or one is of the lite runtime.
MethodTypes ChooseTypes(const MethodWish& wish, const Capture& capture,
                        const google::protobuf::DescriptorPool& pool);

/// Leaves of `capture` the exchanges of the method (and those that name none, which are taken to be
/// of it) whose messages parse; every other one of them becomes a problem. A response that does not
/// parse costs the exchange; one that is missing does not. Responses are dropped where the types
/// have none. Throws std::runtime_error when nothing is left.
void KeepGoodOnes(const MethodTypes& types, Capture& capture);

/// Thins the exchanges out evenly, so that no more than `count_max` with no more than `bytes_max`
/// wire bytes remain, and at least one.
void Thin(Capture& capture, size_t count_max, size_t bytes_max);

}  // namespace harena::bench
