#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

#include "bench/messages/runner.h"

namespace harena::bench {

/// What no parser and serializer can go below; these have no messages and no handler:
///   bound_memcpy  as parse a copy of the request's bytes, as serialize another
///   bound_scan    as parse a scan that checks the request against its schema (wire_scan.h)
std::vector<std::string> BoundModes();

/// A bound's factory for requests of the type `request`; null when `mode` is none of BoundModes().
/// `traffic` must outlive it.
std::unique_ptr<RunnerFactory> MakeBoundFactory(std::string_view mode, const Traffic& traffic,
                                                const google::protobuf::Descriptor* request);

}  // namespace harena::bench
