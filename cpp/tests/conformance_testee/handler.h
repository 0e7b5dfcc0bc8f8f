#pragma once

#include <string>
#include <string_view>

#include "subject.h"

namespace harena::testee {

/// Answers the body of one frame: reads the payload, writes the message in the format asked for.
/// Both are wire bytes of conformance.ConformanceRequest and ConformanceResponse. What is wrong
/// with the request, or with its payload, is said in the answer, as the protocol has it.
std::string Answer(std::string_view request_wire, const Route& route);

}  // namespace harena::testee
