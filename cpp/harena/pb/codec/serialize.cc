#include "harena/pb/codec/serialize.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <new>

#include "harena/pb/message_arena.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;
using google::protobuf::MessageLite;

// Unique in the process.
uint64_t NextToken() noexcept {
  // Handed out to threads in ranges, so that threads do not meet here.
  constexpr uint64_t kRange = 1 << 20;
  static std::atomic<uint64_t> next_range{1};
  thread_local constinit uint64_t token = 0;
  if (token % kRange == 0) token = next_range.fetch_add(1, std::memory_order_relaxed) * kRange;
  return token++;
}

// What the calling thread wrote last and nobody has copied yet.
class Scratch {
 public:
  ~Scratch() { ended_ = true; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Null once the thread is ending.
  static Scratch* OfThread() noexcept {
    if (HARENA_UNLIKELY(ended_)) return nullptr;
    thread_local Scratch scratch;
    return &scratch;
  }

  bool busy() const noexcept { return busy_; }

  bool TryFill(const MessageLite& message, WriteFunction write, MessageArena& home) {
    const StepTimer timer(home.serialize_nanos());
    Drop();
    uint8_t* to = writer_.Begin(bytes_expected_, &home.arena());
    if (to == nullptr) return false;
    try {
      const Busy busy(*this);
      to = write(message, to, writer_);
    } catch (const OutOfRoom&) {
      to = nullptr;
    } catch (const std::bad_alloc&) {
      to = nullptr;
    }
    writer_.entries().clear();
    if (to == nullptr || writer_.BytesFrom(to) > INT_MAX) {
      Drop();
      return false;
    }
    data_ = to;
    size_ = writer_.BytesFrom(to);
    message_ = &message;
    token_ = NextToken();
    home.MarkSized(token_);
    // Learns with the thread's messages: quickly up, slowly down.
    bytes_expected_ = std::max(size_ + size_ / 8, bytes_expected_ - bytes_expected_ / 16);
    bytes_expected_ = std::min(bytes_expected_, kBytesExpectedMax);
    return true;
  }

  void LeaveSizes(const MessageLite& message) {
    const Busy busy(*this);
    static_cast<void>(message.ByteSizeLong());
  }

  bool Holds(const MessageLite& message, const MessageArena& home) const noexcept {
    return message_ == &message && home.sized() == token_;
  }
  const uint8_t* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

  void Drop() noexcept {
    message_ = nullptr;
    writer_.Free();
  }

 private:
  static constexpr size_t kBytesExpectedMax = size_t{1} << 20;

  class Busy {
   public:
    explicit Busy(Scratch& scratch) noexcept : scratch_(scratch) { scratch_.busy_ = true; }
    ~Busy() { scratch_.busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Scratch& scratch_;
  };

  Scratch() noexcept : writer_(PagePool::Default()) {}

  static thread_local constinit inline bool ended_ = false;

  Writer writer_;
  bool busy_ = false;
  const MessageLite* message_ = nullptr;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  uint64_t token_ = 0;
  size_t bytes_expected_ = 4096;
};

}  // namespace

void ForgetSized(const Arena* arena) noexcept {
  if (MessageArena* home = MessageArena::FindCodec(arena)) {
    home->MarkSized(MessageArena::kSizedByNobody);
  }
}

bool TrySizeByWriting(const MessageLite& message, const Arena* arena, WriteFunction write,
                      size_t* size) {
  MessageArena* const home = MessageArena::FindCodec(arena);
  if (home == nullptr) return false;
  Scratch* const scratch = Scratch::OfThread();
  if (scratch != nullptr && !scratch->busy() && scratch->TryFill(message, write, *home)) {
    *size = scratch->size();
    return true;
  }
  // What another thread may have written of this message is out of date all the same.
  home->MarkSized(MessageArena::kSizedByNobody);
  return false;
}

uint8_t* TryWrite(const MessageLite& message, const Arena* arena, WriteFunction write,
                  uint8_t* target, google::protobuf::io::EpsCopyOutputStream* stream) {
  MessageArena* const home = MessageArena::FindCodec(arena);
  if (home == nullptr) return nullptr;
  Scratch* const scratch = Scratch::OfThread();
  if (scratch == nullptr || scratch->busy()) return nullptr;
  if (!scratch->Holds(message, *home) && !scratch->TryFill(message, write, *home)) {
    // protobuf's own code needs the sizes of all parts.
    scratch->LeaveSizes(message);
    return nullptr;
  }
  // An empty message may be written to no buffer at all.
  if (scratch->size() != 0) {
    target = stream->WriteRaw(scratch->data(), static_cast<int>(scratch->size()), target);
  }
  scratch->Drop();
  return target;
}

}  // namespace harena::pb::codec
