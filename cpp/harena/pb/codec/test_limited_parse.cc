#include "harena/pb/codec/test_limited_parse.h"

#include <algorithm>
#include <set>

#include "harena/base/compiler.h"
#include "harena/mem/test_pool_peer.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/codec/test_heap_bytes.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/pb/wire/schema.h"
#include "harena/scope/scope_pool.h"

#if HARENA_ASAN
// The key that protobuf's own map loses: HasTextKeys(). Who uses this counts those.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:google::protobuf::Arena::CreateInArenaStorageInternal<std::";
}
#endif

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// The process's limit, for as long as this stands.
class ProcessLimit {
 public:
  explicit ProcessLimit(size_t bytes_max) { ProcessBudget().set_bytes_max(bytes_max); }
  ~ProcessLimit() { ProcessBudget().set_bytes_max(kUnlimitedBytes); }
  ProcessLimit(const ProcessLimit&) = delete;
  ProcessLimit& operator=(const ProcessLimit&) = delete;
};

Subject::Parsed ParseOnto(Scope& scope, MessageKeeper* keeper, const LimitedInput& input,
                          size_t* held_bytes) {
  pb::test::ChunkedStream stream(input.wire, input.chunk_bytes);
  if (scope.mode() == Mode::kCodec) {
    *held_bytes = scope.budget().bytes_used();
    return input.subject.parse_frozen(scope, stream, input.wire.size());
  }
  auto* const message = static_cast<google::protobuf::Message*>(
      keeper != nullptr ? keeper->Take(scope).request : input.subject.make(scope));
  *held_bytes = scope.budget().bytes_used();
  const ParseResult result =
      input.by_protobuf ? Parse(scope, stream, input.wire.size(), *message)
                        : input.subject.parse_open(scope, stream, input.wire.size(), *message);
  return {message, result};
}

// Parses into a message that `keeper` then keeps, as a request of no limits would.
void ParseBefore(PagePool& pool, MessageKeeper& keeper, const LimitedInput& input) {
  Scope scope({.page_pool = &pool, .mode = Mode::kReuse});
  size_t held_bytes;
  static_cast<void>(ParseOnto(scope, &keeper, input, &held_bytes));
}

bool HasTextKeys(const Descriptor& type, std::set<const Descriptor*>& seen) {
  if (!seen.insert(&type).second) return false;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() == nullptr) continue;
    if (field.is_map() &&
        field.message_type()->map_key()->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      return true;
    }
    if (HasTextKeys(*field.message_type(), seen)) return true;
  }
  return false;
}

}  // namespace

LimitedOutcome LimitedParses::Run(const LimitedInput& input, Options options,
                                  size_t process_bytes_max, const Look& look) {
  options.page_pool = &pool_;
  // The pages of sampled scopes are another pool's.
  options.quarantine_one_in = 0;
  LimitedOutcome outcome = RunOnce(input, options, process_bytes_max, look);
  // What a thread or the pool keeps for its next parse is there when that comes; a leak is not.
  for (int again = 0; again < 3 && outcome.leaked_bytes != 0; ++again) {
    const LimitedOutcome next = RunOnce(input, options, process_bytes_max, look);
    outcome.leaked_bytes = std::min(outcome.leaked_bytes, next.leaked_bytes);
    outcome.heap_bytes = std::min(outcome.heap_bytes, next.heap_bytes);
    outcome.taken_bytes = std::min(outcome.taken_bytes, next.taken_bytes);
  }
  return outcome;
}

LimitedOutcome LimitedParses::RunOnce(const LimitedInput& input, const Options& options,
                                      size_t process_bytes_max, const Look& look) {
  LimitedOutcome outcome;
  TrimStringBuffers();
  const ptrdiff_t heap_before = HeapBytes();
  {
    const google::protobuf::Message& prototype = *input.subject.prototype;
    std::optional<MessageKeeper> keeper;
    if (options.mode == Mode::kReuse) keeper.emplace(prototype, prototype, options);
    if (keeper && input.kept) ParseBefore(pool_, *keeper, input);
    ScopePool scopes(options);
    const size_t pages_before = PagePoolPeer::BytesInUse(pool_);
    std::optional<ProcessLimit> limit(std::in_place, process_bytes_max);
    std::optional<Scope> scope = scopes.TryAcquire(&outcome.refusal);
    const bool counts_malloc = options.mode == Mode::kArena && scope;
    const size_t process_before = ProcessBudget().bytes_used();
    const auto page_bytes = [&] {
      // A kept message that is too large for its scope is dropped.
      const size_t pages_now = PagePoolPeer::BytesInUse(pool_);
      size_t bytes = pages_now - std::min(pages_now, pages_before);
      // The arena's blocks from malloc, which only the process's budget counts apart from the rest.
      if (counts_malloc) {
        bytes += ProcessBudget().bytes_used() - process_before - scope->outside().bytes();
      }
      return bytes;
    };
    HeapWatch watch([&page_bytes] { return page_bytes(); });
    const google::protobuf::Message* message = nullptr;
    if (!scope) {
      outcome.status = ParseStatus::kRefused;
    } else {
      try {
        const Subject::Parsed parsed =
            ParseOnto(*scope, keeper ? &*keeper : nullptr, input, &outcome.held_bytes);
        outcome.status = parsed.result.status;
        outcome.refusal = parsed.result.refusal;
        if (outcome.status == ParseStatus::kOk) message = parsed.message;
      } catch (const BudgetExceeded& exceeded) {
        outcome.status = ParseStatus::kRefused;  // not even an empty message fits
        outcome.refusal = exceeded.refusal();
      }
    }
    outcome.taken_bytes = watch.bytes_max();
    outcome.heap_bytes = watch.heap_bytes_max();
    outcome.page_bytes = page_bytes();
    limit.reset();
    if (message != nullptr && look != nullptr) look(*message);
  }
  TrimStringBuffers();
  outcome.leaked_bytes = static_cast<size_t>(std::max<ptrdiff_t>(HeapBytes() - heap_before, 0));
  return outcome;
}

void MakeTablesOf(const Subject& subject) {
  static_cast<void>(wire::Schemas::OfGenerated(*subject.prototype->GetDescriptor()));
}

bool HasTextKeys(const Subject& subject) {
  std::set<const Descriptor*> seen;
  return HasTextKeys(*subject.prototype->GetDescriptor(), seen);
}

}  // namespace harena::pb::codec::test
