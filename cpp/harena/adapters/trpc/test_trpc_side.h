// Stands in for tRPC where it is not linked: one set of arena options for the process, copied into
// each new arena, as in its server/method_handler.cc. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace harena::trpc {

extern bool test_served_requests;
extern bool test_ignore_options;
extern std::map<std::string, std::function<uint64_t()>> test_variables;

}  // namespace harena::trpc
