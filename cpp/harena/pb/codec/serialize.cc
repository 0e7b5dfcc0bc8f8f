#include "harena/pb/codec/serialize.h"

#include <algorithm>
#include <climits>
#include <new>
#include <utility>
#include <vector>

#include "harena/pb/message_arena.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;
using google::protobuf::MessageLite;

// What the calling thread writes with.
class Scratch {
 public:
  ~Scratch() { ended_ = true; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Null once the thread is ending, and while it is in use.
  static Scratch* OfThread() noexcept {
    if (HARENA_UNLIKELY(ended_)) return nullptr;
    thread_local Scratch scratch;
    return scratch.busy_ ? nullptr : &scratch;
  }

  // Null when memory is refused or the message is too large.
  LastWritten::Owner Write(const MessageLite& message, WriteFunction write, MessageArena& home) {
    const StepTimer timer(home.serialize_nanos());
    // Its block may serve again.
    home.written().Drop();
    const Busy busy(*this);
    Writer writer(home.written().pool());
    writer.entries().swap(entries_);
    uint8_t* to = writer.Begin(bytes_expected_, &home.arena());
    try {
      if (to != nullptr) to = write(message, to, writer);
    } catch (const OutOfRoom&) {
      to = nullptr;
    } catch (const std::bad_alloc&) {
      to = nullptr;
    }
    home.written().CountBlocks(writer.blocks());
    writer.entries().clear();
    if (writer.entries().capacity() <= kEntriesKeptMax) entries_.swap(writer.entries());
    if (to == nullptr || writer.BytesFrom(to) > INT_MAX) return {nullptr, {&writer.pool()}};
    const size_t size = writer.BytesFrom(to);
    // Learns with the thread's messages: quickly up, slowly down.
    bytes_expected_ = std::max(size + size / 8, bytes_expected_ - bytes_expected_ / 16);
    bytes_expected_ = std::min(bytes_expected_, kBytesExpectedMax);
    return writer.Release(to, message);
  }

  void LeaveSizes(const MessageLite& message) {
    const Busy busy(*this);
    static_cast<void>(message.ByteSizeLong());
  }

 private:
  static constexpr size_t kBytesExpectedMax = size_t{1} << 20;
  static constexpr size_t kEntriesKeptMax = 8192;  // 64 KiB

  class Busy {
   public:
    explicit Busy(Scratch& scratch) noexcept : scratch_(scratch) { scratch_.busy_ = true; }
    ~Busy() { scratch_.busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Scratch& scratch_;
  };

  Scratch() = default;

  static thread_local constinit inline bool ended_ = false;

  bool busy_ = false;
  size_t bytes_expected_ = 4096;
  std::vector<const void*> entries_;  // a Writer's, between two
};

MessageArena* WritingHome(const Arena* arena) noexcept {
  MessageArena* const home = MessageArena::FindCodec(arena);
  return home != nullptr && home->codec_writes() ? home : nullptr;
}

}  // namespace

void ForgetSized(const Arena* arena) noexcept {
  if (MessageArena* home = MessageArena::FindCodec(arena)) home->written().Drop();
}

bool TrySizeByWriting(const MessageLite& message, const Arena* arena, WriteFunction write,
                      size_t* size) {
  MessageArena* const home = WritingHome(arena);
  if (home == nullptr) return false;
  if (Scratch* const scratch = Scratch::OfThread()) {
    if (LastWritten::Owner written = scratch->Write(message, write, *home)) {
      *size = written->size;
      home->written().Put(std::move(written));
      return true;
    }
  }
  // What was written of this message is out of date all the same.
  home->written().Drop();
  return false;
}

uint8_t* TryWrite(const MessageLite& message, const Arena* arena, WriteFunction write,
                  uint8_t* target, google::protobuf::io::EpsCopyOutputStream* stream) {
  MessageArena* const home = WritingHome(arena);
  if (home == nullptr) return nullptr;
  Scratch* const scratch = Scratch::OfThread();
  if (scratch == nullptr) return nullptr;
  LastWritten::Owner written = home->written().Take();
  if (written == nullptr || written->message != &message) {
    written = scratch->Write(message, write, *home);
    if (written == nullptr) {
      // protobuf's own code needs the sizes of all parts.
      scratch->LeaveSizes(message);
      return nullptr;
    }
  }
  // An empty message may be written to no buffer at all.
  if (written->size == 0) return target;
  return stream->WriteRaw(written->data, static_cast<int>(written->size), target);
}

}  // namespace harena::pb::codec
