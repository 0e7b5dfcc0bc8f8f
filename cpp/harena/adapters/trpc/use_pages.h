// tRPC's arenas on Harena's pages, in one line of Initialize(). C++17, as tRPC's own headers.
#pragma once

#include <optional>
#include <string>

#include "harena/adapters/trpc/pages_options.h"

// tRPC's own headers lay ServerContext out by it: all of a program must agree.
#ifndef TRPC_PROTO_USE_ARENA
#error "Harena needs tRPC's arenas: compile tRPC and all that uses it with -DTRPC_PROTO_USE_ARENA"
#endif

namespace harena::trpc {

/// Puts request and response of every unary call of this process's tRPC services on recycled pages:
///
///   int Initialize() override {
///     harena::trpc::UsePages();
///     RegisterService(...);
///
/// What cannot be stops the process and says what to change: options that Validate() refuses, a
/// call after the first request, a second call with other options. Calling it again with the same
/// ones does nothing.
/// Thread rule: from one thread, before the first request: tRPC reads its options without a lock.
void UsePages(const PagesOptions& options = {});

/// The same, but the answer says what is wrong; then nothing has changed.
[[nodiscard]] std::optional<std::string> TryUsePages(const PagesOptions& options = {});

}  // namespace harena::trpc
