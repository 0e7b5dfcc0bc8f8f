#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/arenastring.h>
#include <google/protobuf/repeated_field.h>

#include "harena/base/compiler.h"
#include "harena/base/poison.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/codec/bounded_parse.h"
#include "harena/pb/layout/parse_window.h"
#include "harena/pb/layout/repeated_window.h"
#include "harena/pb/layout/string_image.h"
#include "harena/pb/message_arena.h"

#if HARENA_CODEC
namespace google::protobuf::internal {
class ParseContext;
}
namespace harena::pb::wire {
class MeteredStream;
}

namespace harena::pb::codec {

/// Where one parse puts what it reads.
///
/// Frozen: the result will only be read. Strings are images in chunks of the scope's protobuf
/// arena, messages stand there too: no malloc, no destructor. Open: whoever owns the message may
/// change it, so it is built as protobuf would have built it, out of ordinary strings.
///
/// Thread rule: the scope's thread. Lifetime rule: ends before its scope.
class Builder {
 public:
  /// Of a frozen message, whose input has `wire_bytes` bytes.
  Builder(Scope& scope, size_t wire_bytes)
      : Builder(MessageArena::Of(scope), true, &scope, wire_bytes) {}
  /// Of an open message. Whoever parses it counts its input.
  explicit Builder(MessageArena& home) : Builder(home, false, nullptr, 0) {}
  /// Of a frozen message whose input is of unknown size: what protobuf keeps on the heap is not
  /// counted.
  struct Uncounted {};
  Builder(MessageArena& home, Uncounted) : Builder(home, true, nullptr, 0) {}
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  google::protobuf::Arena* arena() const noexcept { return arena_; }
  bool frozen() const noexcept { return frozen_; }
  /// Why one of the Allow functions refused, when that is why a parse failed; a refused block
  /// throws instead.
  const Refusal& refusal() const noexcept { return refusal_; }
  bool refused() const noexcept { return refused_; }

  /// Makes an image the value of `field`. REQUIRES: frozen.
  static void SetImage(google::protobuf::internal::ArenaStringPtr& field, std::string* image) {
    google::protobuf::internal::TaggedStringPtr tagged;
    tagged.SetFixedSizeArena(image);
    field.UnsafeSetTaggedPointer(tagged);
  }

  /// An image of `text`, and whether that is all ASCII. REQUIRES: frozen.
  HARENA_INLINE std::string* NewImage(std::string_view text, bool* ascii) {
    void* place = Allocate(layout::StringImage::BytesFor(text.size()));
    *ascii = layout::StringImage::Write(place, text.data(), text.size());
    return static_cast<std::string*>(place);
  }

  /// NewImage() of the text of `size` bytes at `text`, for StringImage::WriteLocal().
  HARENA_INLINE std::string* NewLocalImage(const char* text, size_t size, bool* ascii) {
    void* place = Allocate(sizeof(layout::StringImage));
    *ascii = layout::StringImage::WriteLocal(place, text, size);
    return static_cast<std::string*>(place);
  }

  /// The same, written to `place`; only a content that is not local takes memory.
  void WriteImage(void* place, std::string_view text) {
    const bool local = text.size() <= layout::StringImage::kLocalMax;
    layout::StringImage::WriteApart(place, local ? nullptr : Allocate(text.size() + 1), text.data(),
                                    text.size());
  }

  /// Makes `text` the value of `field`. REQUIRES: open.
  void SetString(google::protobuf::internal::ArenaStringPtr& field, std::string_view text);

  /// An ordinary string on the arena. REQUIRES: open.
  std::string* NewOpenString(std::string_view text);

  /// A message of the tree that is being parsed.
  template <typename T>
  HARENA_INLINE T* NewMessage() {
    if constexpr (HasCodec<T>) {
      if (HARENA_LIKELY(frozen_)) {
        static_assert(alignof(T) <= 8);
        return Access::New<T>(Allocate(sizeof(T)), arena_);
      }
    }
    return google::protobuf::Arena::CreateMessage<T>(arena_);
  }

  /// Makes room for `count` more numbers. REQUIRES: count is not 0.
  template <typename T>
  HARENA_INLINE void Reserve(google::protobuf::RepeatedField<T>& field, int count) {
    if (HARENA_LIKELY(frozen_ && layout::CapacityOf(field) == 0)) {
      using Header = layout::RepeatedHeader;
      // protobuf's arena wants arrays back that are no smaller.
      count = std::max(count, static_cast<int>(sizeof(Header) / sizeof(T)));
      const size_t bytes = sizeof(Header) + static_cast<size_t>(count) * sizeof(T);
      auto* const header = ::new (Allocate(bytes)) Header{arena_};
      layout::ElementsOf(field) = header + 1;
      layout::CapacityOf(field) = count;
      return;
    }
    field.Reserve(field.size() + count);
  }

  /// To be asked before a string that goes to the heap is read (a map's key, or what a chunk's end
  /// cuts in two): counts the whole input once, which bounds them. False when a budget refuses.
  HARENA_INLINE bool AllowStrings() noexcept { return strings_allowed_ || ChargeStrings(); }
  /// To be asked before something at `ptr` that protobuf's own code reads (a stock message, an
  /// unknown field): allows its strings, and from the first time on what unknown fields take is
  /// metered. False when a budget refuses.
  HARENA_INLINE bool AllowHeap(google::protobuf::internal::ParseContext* context,
                               const char* ptr) noexcept {
    return scope_ == nullptr || BeginHeap(*context, ptr);
  }
  /// Who meters; null for nobody. REQUIRES: the context of the parse reads from it.
  void set_metered(wire::MeteredStream* metered) noexcept { metered_ = metered; }

  /// Elements that have no place yet. A stack, which a parse within a parse goes on with.
  std::vector<void*>& gathered() noexcept { return gathered_; }
  /// Pushes one. Throws BudgetExceeded: what the stack newly takes of the heap counts while the
  /// parse lasts.
  HARENA_INLINE void Gather(void* element) {
    if (HARENA_UNLIKELY(gathered_.size() == gathered_.capacity())) GrowGathered();
    gathered_.push_back(element);
  }

  /// The wire nests deeper than it may. Null, for parsers to return.
  const char* TooDeep() noexcept {
    too_deep_ = true;
    return nullptr;
  }
  /// Whether that was noticed here; where protobuf's own code meets the limit it is not.
  bool too_deep() const noexcept { return too_deep_; }

  /// Something may lack a required field: only a look at the whole message can tell.
  void DoubtRequired() noexcept { required_in_doubt_ = true; }
  bool required_in_doubt() const noexcept { return required_in_doubt_; }

  /// For what a chunk's end cuts in two; good until the next such.
  std::string& scratch() noexcept;

 private:
  Builder(MessageArena& home, bool frozen, Scope* scope, size_t wire_bytes) noexcept
      : home_(home),
        arena_(&home.arena()),
        scope_(scope),
        wire_bytes_(wire_bytes),
        frozen_(frozen),
        strings_allowed_(scope == nullptr),
        gathered_(GatheredOfThread(own_gathered_)),
        gathered_base_(gathered_.size()) {}
  bool ChargeStrings() noexcept;
  bool BeginHeap(google::protobuf::internal::ParseContext& context, const char* ptr) noexcept;
#if HARENA_ASAN
  static constexpr size_t kRedzoneBytes = 16;
#else
  static constexpr size_t kRedzoneBytes = 0;
#endif
  // Bumps within a chunk of the arena: a call of the arena for each string would cost more than the
  // string. Throws what the arena's block hook throws.
  HARENA_INLINE void* Allocate(size_t bytes) {
    const size_t taken = ((bytes + 7) & ~size_t{7}) + kRedzoneBytes;
    if (HARENA_UNLIKELY(taken > static_cast<size_t>(limit_ - next_))) return AllocateSlow(taken);
    char* const place = next_;
    next_ += taken;
    Unpoison(place, bytes);
    return place;
  }
  void* AllocateSlow(size_t bytes);
  void GrowGathered();
  static std::vector<void*>& GatheredOfThread(std::vector<void*>& own) noexcept;

  MessageArena& home_;
  google::protobuf::Arena* const arena_;
  Scope* const scope_;
  const size_t wire_bytes_;
  const bool frozen_;
  bool strings_allowed_;
  wire::MeteredStream* metered_ = nullptr;
  char* next_ = nullptr;
  char* limit_ = nullptr;
  bool refused_ = false;
  bool required_in_doubt_ = false;
  bool too_deep_ = false;
  Refusal refusal_;
  std::vector<void*> own_gathered_;
  std::vector<void*>& gathered_;
  const size_t gathered_base_;
  size_t gathered_charged_bytes_ = 0;
  std::string own_scratch_;
};

/// While it stands, messages on its builder's arena that are parsed on this thread, whoever parses
/// them, are built by that builder. Thread rule: belongs to the thread that made it. Frames nest.
class BuilderFrame {
 public:
  explicit BuilderFrame(Builder& builder) noexcept : outer_(current_) { current_ = &builder; }
  ~BuilderFrame() { current_ = outer_; }
  BuilderFrame(const BuilderFrame&) = delete;
  BuilderFrame& operator=(const BuilderFrame&) = delete;

  static Builder* Current() noexcept { return current_; }

 private:
  static thread_local constinit inline Builder* current_ = nullptr;
  Builder* const outer_;
};

/// Parses what MessageArena::GuardParse() was told of. `parse` gets the builder to use, or null for
/// protobuf's own parser.
using GuardedParse = const char* (*)(void* state, Builder* builder);
const char* ParseGuarded(MessageArena& home, google::protobuf::internal::ParseContext& context,
                         GuardedParse parse, void* state) noexcept;

/// The codec's parser for `message`, or protobuf's own (`stock`) where the message does not live on
/// a scope of mode `codec`. What a generated _InternalParse() does. A message that says to be
/// longer than the input ends a BoundedParse before protobuf believes it.
template <typename T, typename Stock>
const char* ParseOrStock(T& message, const char* ptr,
                         google::protobuf::internal::ParseContext* context, Stock stock) {
  google::protobuf::Arena* const arena = message.GetArena();
  if (arena != nullptr) {
    Builder* const current = BuilderFrame::Current();
    if (current != nullptr && current->arena() == arena) {
      return Access::Parse(message, ptr, context, *current);
    }
    if (MessageArena* const home = MessageArena::Find(arena)) {
      if (HARENA_UNLIKELY(home->Guards(message))) {
        auto parse = [&](Builder* builder) {
          return builder == nullptr ? stock() : Access::Parse(message, ptr, context, *builder);
        };
        return ParseGuarded(
            *home, *context,
            [](void* state, Builder* builder) {
              return (*static_cast<decltype(parse)*>(state))(builder);
            },
            &parse);
      }
      if (home->codec()) {
        Builder builder(*home);
        return Access::Parse(message, ptr, context, builder);
      }
    }
    if (BoundedParse::On(arena) && !layout::LimitIsInInput(*context, ptr)) return nullptr;
  }
  return stock();
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
