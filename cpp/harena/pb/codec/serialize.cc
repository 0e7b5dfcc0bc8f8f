#include "harena/pb/codec/serialize.h"

#include <algorithm>
#include <climits>
#include <new>
#include <utility>
#include <vector>

#include "harena/pb/arena/message_arena.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;
using google::protobuf::MessageLite;

// What the calling thread writes with.
class ThreadWriter {
 public:
  ~ThreadWriter() { ended_ = true; }
  ThreadWriter(const ThreadWriter&) = delete;
  ThreadWriter& operator=(const ThreadWriter&) = delete;

  // Null once the thread is ending, and while it is in use.
  static ThreadWriter* OfThread() noexcept {
    if (HARENA_UNLIKELY(ended_)) return nullptr;
    thread_local ThreadWriter writer_of_thread;
    return writer_of_thread.busy_ ? nullptr : &writer_of_thread;
  }

  // Null when memory is refused or the message is too large.
  LastWritten::Owner Write(const MessageLite& message, WriteFunction write,
                           MessageArena& messages) {
    const StepTimer timer(messages.serialize_nanos());
    // Its block may serve again.
    messages.written().Drop();
    const Busy busy(*this);
    Writer writer(messages.written().pool());
    writer.entries().swap(entries_);
    uint8_t* to = writer.Begin(bytes_expected_, &messages.arena());
    try {
      if (to != nullptr) to = write(message, to, writer);
    } catch (const OutOfRoom&) {
      to = nullptr;
    } catch (const std::bad_alloc&) {
      to = nullptr;
    }
    messages.written().CountBlocks(writer.blocks());
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
    explicit Busy(ThreadWriter& writer_of_thread) noexcept : scratch_(writer_of_thread) {
      scratch_.busy_ = true;
    }
    ~Busy() { scratch_.busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    ThreadWriter& scratch_;
  };

  ThreadWriter() = default;

  static thread_local constinit inline bool ended_ = false;

  bool busy_ = false;
  size_t bytes_expected_ = 4096;
  std::vector<const void*> entries_;  // a Writer's, between two
};

MessageArena* ArenaToWriteOn(const Arena* arena) noexcept {
  MessageArena* const messages = MessageArena::FindCodec(arena);
  return messages != nullptr && messages->codec_writes() ? messages : nullptr;
}

}  // namespace

void ForgetSized(const Arena* arena) noexcept {
  if (MessageArena* messages = MessageArena::FindCodec(arena)) messages->written().Drop();
}

bool TrySizeByWriting(const MessageLite& message, const Arena* arena, WriteFunction write,
                      size_t* size) {
  MessageArena* const messages = ArenaToWriteOn(arena);
  if (messages == nullptr) return false;
  if (ThreadWriter* const writer_of_thread = ThreadWriter::OfThread()) {
    if (LastWritten::Owner written = writer_of_thread->Write(message, write, *messages)) {
      *size = written->size;
      messages->written().Put(std::move(written));
      return true;
    }
  }
  // What was written of this message is out of date all the same.
  messages->written().Drop();
  return false;
}

uint8_t* TryWrite(const MessageLite& message, const Arena* arena, WriteFunction write,
                  uint8_t* target, google::protobuf::io::EpsCopyOutputStream* stream) {
  MessageArena* const messages = ArenaToWriteOn(arena);
  if (messages == nullptr) return nullptr;
  ThreadWriter* const writer_of_thread = ThreadWriter::OfThread();
  if (writer_of_thread == nullptr) return nullptr;
  LastWritten::Owner written = messages->written().Take();
  if (written == nullptr || written->message != &message) {
    written = writer_of_thread->Write(message, write, *messages);
    if (written == nullptr) {
      // protobuf's own code needs the sizes of all parts.
      writer_of_thread->LeaveSizes(message);
      return nullptr;
    }
  }
  // An empty message may be written to no buffer at all.
  if (written->size == 0) return target;
  return stream->WriteRaw(written->data, static_cast<int>(written->size), target);
}

}  // namespace harena::pb::codec
