// A consumer of harena::trpc: tRPC's arenas on Harena's pages, chosen once for the process.
#include "harena/adapters/trpc/use_pages.h"

int main() {
  const bool chosen = !harena::trpc::TryUsePages();
  const bool refused = harena::trpc::TryUsePages({.expose_vars = false}).has_value();
  return chosen && refused ? 0 : 1;
}
