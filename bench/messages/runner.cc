#include "bench/messages/runner.h"

namespace harena::bench {

std::vector<std::string> MessageModes(bool types_carry_codec) {
  if (types_carry_codec) return {"codec"};
  return {"heap", "arena", "pages", "reuse", "heap_clear"};
}

}  // namespace harena::bench
