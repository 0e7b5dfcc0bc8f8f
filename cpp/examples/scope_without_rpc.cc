// Scopes work without any RPC framework: for jobs, batches, frames.
#include <iostream>
#include <memory_resource>
#include <string>
#include <vector>

#include "greeter.pb.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope_pool.h"

int main() {
  harena::ScopePool scopes({.request_bytes_max = 1 << 20});
  greeter::Request sent;
  for (int i = 0; i < 100; ++i) sent.add_names("grain " + std::to_string(i));
  const std::string wire = sent.SerializeAsString();

  size_t letters = 0;
  for (int job = 0; job < 1000; ++job) {
    harena::Scope scope = scopes.Acquire();
    auto* request = scope.CreateMessage<greeter::Request>();
    if (const auto result = harena::pb::Parse(scope, wire, *request); !result) {
      std::cerr << result.refusal.Message() << '\n';
      return 1;
    }
    std::pmr::vector<std::pmr::string> names(scope.resource());
    for (const std::string& name : request->names()) names.emplace_back(name);
    for (const auto& name : names) letters += name.size();
  }  // the vector ends before the scope, and all memory with the scope
  std::cout << letters << " letters; half of the jobs took up to " << scopes.stats().bytes_p50
            << " bytes\n";

  // More than its limit: an answer, not a crash.
  for (int i = 0; i < 100'000; ++i) sent.add_names("");
  harena::Scope scope = scopes.Acquire();
  const auto result =
      harena::pb::Parse(scope, sent.SerializeAsString(), *scope.CreateMessage<greeter::Request>());
  std::cout << "refused: " << result.refusal.Message() << '\n';
  return result.status == harena::pb::ParseStatus::kRefused ? 0 : 1;
}
