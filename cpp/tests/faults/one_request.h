// A method of a server, without the server: what an adapter does for one request, in any mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "harena/mem/page_pool.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/scope/scope_pool.h"

namespace harena::faults {

enum class Outcome { kServed, kRefused, kWrong };

/// Thread rule: any thread. Lifetime rule: `pool` must outlive it.
class Echo {
 public:
  Echo(PagePool& pool, Mode mode, size_t request_bytes_max = kUnlimitedBytes,
       size_t quarantine_one_in = Options().quarantine_one_in);

  /// Parses `wire` (a harena.test.Shapes), has a handler answer with all of it and a few objects on
  /// the scope, and serializes. kRefused when memory was refused, by whomever; kWrong when the
  /// answer is not the right one.
  Outcome Serve(std::string_view wire);

  ScopePool& scopes() noexcept { return scopes_; }
  pb::MessageKeeper& keeper() noexcept { return keeper_; }

 private:
  Outcome ServeOrThrow(std::string_view wire);
  Outcome ServeOnHeap(std::string_view wire);

  const Mode mode_;
  ScopePool scopes_;
  pb::MessageKeeper keeper_;
};

/// A request with every kind of field, `leaves` sub-messages and long strings among them.
std::string ShapesWire(int leaves);

}  // namespace harena::faults
