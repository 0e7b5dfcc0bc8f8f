#include <new>
#include <optional>

#include "harena/pb/budget_frame.h"
#include "harena/pb/codec/builder.h"
#include "harena/pb/layout/string_image.h"
#include "harena/pb/message_arena.h"

#if HARENA_CODEC
namespace harena::pb {

// What the guarded parse may touch of its arena.
struct ParseGuard {
  static Budget& Begin(MessageArena& home) noexcept {
    // Once: what a second parse finds is not empty any more, and is for protobuf to change.
    home.guarded_ = nullptr;
    return home.budget_;
  }
  static void Refuse(MessageArena& home, const Refusal& refusal) noexcept {
    home.refused_parse_ = refusal;
  }
  static void NoteMalformed(MessageArena& home) noexcept { home.malformed_parse_ = true; }
};

namespace codec {
namespace {

const char* ParseWithinBudget(MessageArena& home, Budget& budget, GuardedParse parse, void* state) {
  const BudgetFrame frame(budget);
  if (!home.codec()) return parse(state, nullptr);
  if (!layout::StringImagesWork()) {
    Builder open(home);
    return parse(state, &open);
  }
  Builder frozen(home, Builder::Uncounted());
  const BuilderFrame builder_frame(frozen);
  return parse(state, &frozen);
}

}  // namespace

// The framework's frames stand below this one: no exception passes it.
const char* ParseGuarded(MessageArena& home, GuardedParse parse, void* state) noexcept {
  try {
    const char* const end = ParseWithinBudget(home, ParseGuard::Begin(home), parse, state);
    if (end == nullptr) ParseGuard::NoteMalformed(home);
    return end;
  } catch (const BudgetExceeded& exceeded) {
    ParseGuard::Refuse(home, exceeded.refusal());
  } catch (const std::bad_alloc&) {
    ParseGuard::Refuse(home, Refusal());
  }
  return nullptr;
}

}  // namespace codec
}  // namespace harena::pb
#endif  // HARENA_CODEC
