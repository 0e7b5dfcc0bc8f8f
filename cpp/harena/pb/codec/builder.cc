#include "harena/pb/codec/builder.h"

#include <algorithm>

#include "harena/mem/budget.h"
#include "harena/pb/layout/parse_window.h"
#include "harena/pb/wire/metered_stream.h"

#if HARENA_CODEC
namespace harena::pb::codec {

namespace {

// Kept between parses for its memory, as far as that is not much.
class ThreadStack {
 public:
  ~ThreadStack() { ended = true; }
  static thread_local constinit inline bool ended = false;

  std::vector<void*>& Get() noexcept {
    if (stack_.empty() && stack_.capacity() * sizeof(void*) > kKeptMax) stack_.shrink_to_fit();
    return stack_;
  }
  std::string& GetScratch() noexcept {
    if (scratch_.capacity() > kKeptMax) std::string().swap(scratch_);
    return scratch_;
  }

 private:
  static constexpr size_t kKeptMax = size_t{64} << 10;  // bytes

  std::vector<void*> stack_;
  std::string scratch_;
};

// REQUIRES: the thread's has not ended.
ThreadStack& StackOfThread() noexcept {
  thread_local ThreadStack stack;
  return stack;
}

}  // namespace

std::vector<void*>& Builder::GatheredOfThread(std::vector<void*>& own) noexcept {
  if (HARENA_UNLIKELY(ThreadStack::ended)) return own;
  return StackOfThread().Get();
}

std::string& Builder::scratch() noexcept {
  return ThreadStack::ended ? own_scratch_ : StackOfThread().GetScratch();
}

Builder::~Builder() {
  gathered_.resize(gathered_base_);
  if (gathered_charged_bytes_ == 0) return;
  home_.budget().Refund(gathered_charged_bytes_);
  ProcessBudget().Refund(gathered_charged_bytes_);
}

HARENA_NOINLINE void Builder::GrowGathered() {
  constexpr size_t kLeast = 64;
  const size_t before = gathered_.capacity() * sizeof(void*);
  const size_t after = std::max(2 * gathered_.capacity(), kLeast) * sizeof(void*);
  Refusal refusal;
  Budget& budget = home_.budget();
  if (!budget.TryCharge(after, 0, &refusal)) throw BudgetExceeded(refusal);
  if (!ProcessBudget().TryCharge(after, 0, &refusal)) {
    budget.Refund(after);
    throw BudgetExceeded(refusal);
  }
  gathered_charged_bytes_ += after;
  gathered_.reserve(after / sizeof(void*));
  // While the elements moved, both were there.
  const size_t given_back_bytes = std::min(before, gathered_charged_bytes_ - after);
  budget.Refund(given_back_bytes);
  ProcessBudget().Refund(given_back_bytes);
  gathered_charged_bytes_ -= given_back_bytes;
}

HARENA_NOINLINE void* Builder::AllocateSlow(size_t bytes) {
  // Small enough that what stays unused at the end, of the arena's blocks and of the last chunk, is
  // little.
  constexpr size_t kChunkBytes = 4096;
  const size_t chunk_bytes = std::max(bytes, kChunkBytes);
  char* const chunk = google::protobuf::Arena::CreateArray<char>(arena_, chunk_bytes);
  Unpoison(chunk, bytes - kRedzoneBytes);
  if (bytes < chunk_bytes) {
    next_ = chunk + bytes;
    limit_ = chunk + chunk_bytes;
    Poison(next_, chunk_bytes - bytes);
  }
  Poison(chunk + bytes - kRedzoneBytes, kRedzoneBytes);
  return chunk;
}

bool Builder::ChargeStrings() noexcept {
  refused_ = !scope_->TryChargeOutside(wire_bytes_, &refusal_);
  strings_allowed_ = !refused_;
  return strings_allowed_;
}

HARENA_NOINLINE bool Builder::BeginHeap(google::protobuf::internal::ParseContext& context,
                                        const char* ptr) noexcept {
  if (!AllowStrings()) return false;
  // Asked each time where the length of the input is known: protobuf would reserve what a string
  // says, if the messages that it is in say that it is there.
  if (!layout::LimitIsInInput(context, ptr)) return false;
  if (metered_ != nullptr && !metered_->metering() && !metered_->Begin(context, ptr)) {
    refused_ = true;
    refusal_ = metered_->refusal();
  }
  return !refused_;
}

std::string* Builder::NewOpenString(std::string_view text) {
  if (std::string* string = home_.strings().TryMake(text)) return string;
  return google::protobuf::Arena::Create<std::string>(arena_, text);
}

void Builder::SetString(google::protobuf::internal::ArenaStringPtr& field, std::string_view text) {
  // A value that is there already has a string of its own to assign to.
  if (!field.IsDefault()) {
    field.UnsafeMutablePointer()->assign(text);
    return;
  }
  google::protobuf::internal::TaggedStringPtr tagged;
  tagged.SetMutableArena(NewOpenString(text));
  field.UnsafeSetTaggedPointer(tagged);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
