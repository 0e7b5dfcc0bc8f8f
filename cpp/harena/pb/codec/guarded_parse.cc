#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "harena/pb/budget_frame.h"
#include "harena/pb/codec/builder.h"
#include "harena/pb/layout/parse_window.h"
#include "harena/pb/message_arena.h"

#if HARENA_CODEC
namespace harena::pb {

// What the guarded parse may touch of its arena.
struct ParseGuard {
  static const google::protobuf::MessageLite& Begin(MessageArena& home) noexcept {
    // Once: what a second parse finds is not empty any more, and is for protobuf to change.
    return *std::exchange(home.guarded_, nullptr);
  }
  // Whether protobuf, asked for the missing fields, would list them beside a limit.
  static bool MayListNothing(const MessageArena& home) noexcept {
    return home.required_fields_ == RequiredFields::kMustBeThere && IsBounded(home.budget_);
  }
  static void Refuse(MessageArena& home, const Refusal& refusal) noexcept {
    home.refused_parse_ = refusal;
  }
  static void NoteMalformed(MessageArena& home) noexcept { home.malformed_parse_ = true; }
};

namespace codec {

using google::protobuf::internal::ParseContext;

namespace {

const char* ParseWithinBudget(MessageArena& home, Budget& budget, GuardedParse parse, void* state) {
  const BudgetFrame frame(budget);
  if (!home.codec()) return parse(state, nullptr);
  Builder builder(home, Builder::Uncounted());
  const BuilderFrame builder_frame(builder);
  const char* const end = parse(state, &builder);
  if (end == nullptr && builder.too_deep() && home.depth_max() != 0) {
    throw BudgetExceeded({.limit = kDepthMax, .levels_max = home.depth_max()});
  }
  return end;
}

}  // namespace

// The framework's frames stand below this one: no exception passes it.
const char* ParseGuarded(MessageArena& home, ParseContext& context, GuardedParse parse,
                         void* state) noexcept {
  if (home.depth_max() != 0) {
    int& levels_left = layout::DepthLeft(context);
    levels_left = std::min(levels_left, home.depth_max() - 1);
  }
  const StepTimer timer(home.parse_nanos());
  const google::protobuf::MessageLite& message = ParseGuard::Begin(home);
  try {
    const char* end = ParseWithinBudget(home, home.budget(), parse, state);
    if (end != nullptr && ParseGuard::MayListNothing(home) && !message.IsInitialized()) {
      end = nullptr;
    }
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
