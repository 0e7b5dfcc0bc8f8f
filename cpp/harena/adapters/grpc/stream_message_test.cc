// Streams whose messages stand on scopes: ten thousand of them take the memory of one.
#include "harena/adapters/grpc/stream_message.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"

namespace harena::grpc {
namespace {

constexpr int kMessages = 10'000;

// What one side of a stream holds, and the most it ever held.
struct Side {
  Side() = default;
  void Note() {
    std::lock_guard lock(mutex);  // a stream that is cut off may meet the next one
    peak_bytes = std::max(peak_bytes, pool.stats().bytes_in_use);
    count += 1;
  }
  void ExpectTheMemoryOfOne() const {
    EXPECT_EQ(count, kMessages);
    EXPECT_EQ(scopes.stats().scopes_live(), 0u);
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    // Reader and writer each have one message, each of less than a page; and protobuf takes a
    // second page where gRPC parses on another thread than the one that called Renew().
    EXPECT_LE(peak_bytes, 4 * pool.options().page_bytes);
  }

  PagePool pool;
  ScopePool scopes{Options{.page_pool = &pool}, MessagesMayThrow::kNo};
  std::mutex mutex;
  size_t peak_bytes = 0;
  int count = 0;
};

void Fill(Task* task, int number) {
  task->set_number(number);
  task->set_text("a message of a stream, longer than any small string buffer");
}

// A synchronous stream of the generated API, echoing.
class SyncService final : public test::Work::Service {
 public:
  Side side;

 private:
  ::grpc::Status Chat(::grpc::ServerContext*,
                      ::grpc::ServerReaderWriter<Result, Task>* stream) override {
    StreamMessage<Task> task(side.scopes);
    StreamMessage<Result> result(side.scopes);
    while (stream->Read(task.Renew())) {
      EXPECT_NE(task.message().GetArena(), nullptr);
      result.Renew()->set_number(task.message().number());
      side.Note();
      stream->Write(result.message());
    }
    return ::grpc::Status::OK;
  }
};

// The same through the callback API, one message each way at a time. Each step may run on another
// of gRPC's threads; the atomic says to TSan in which order.
class ChatReactor final : public ::grpc::ServerBidiReactor<Task, Result> {
 public:
  explicit ChatReactor(Side& side) : side_(side), task_(side.scopes), result_(side.scopes) {
    Read();
  }

 private:
  void Read() {
    Task* task = task_.Renew();
    handed_on_.store(true, std::memory_order_release);
    StartRead(task);
  }
  void OnReadDone(bool ok) override {
    static_cast<void>(handed_on_.load(std::memory_order_acquire));
    if (ok) {
      Result* result = result_.Renew();
      result->set_number(task_.message().number());
      side_.Note();
      handed_on_.store(true, std::memory_order_release);
      StartWrite(result);
    } else {
      handed_on_.store(true, std::memory_order_release);
      Finish(::grpc::Status::OK);
    }
  }
  void OnWriteDone(bool) override {
    static_cast<void>(handed_on_.load(std::memory_order_acquire));
    Read();
  }
  void OnDone() override {
    static_cast<void>(handed_on_.load(std::memory_order_acquire));
    delete this;
  }

  Side& side_;
  StreamMessage<Task> task_;
  StreamMessage<Result> result_;
  std::atomic<bool> handed_on_{false};
};

class CallbackService final : public test::Work::CallbackService {
 public:
  Side side;

 private:
  ::grpc::ServerBidiReactor<Task, Result>* Chat(::grpc::CallbackServerContext*) override {
    return new ChatReactor(side);
  }
};

// Half a stream at a time, on the client's thread: what is measured is the memory of both sides.
void Converse(test::Work::Stub& stub, Side& side) {
  ::grpc::ClientContext context;
  const auto stream = stub.Chat(&context);
  StreamMessage<Task> task(side.scopes);
  StreamMessage<Result> result(side.scopes);
  for (int i = 0; i < kMessages; ++i) {
    Fill(task.Renew(), i);
    ASSERT_TRUE(stream->Write(task.message()));
    ASSERT_TRUE(stream->Read(result.Renew()));
    ASSERT_EQ(result.message().number(), i);
    side.Note();
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

template <typename Service>
void ExpectStreamsOfOneMessage() {
  Rig<Service> rig;
  Side client;
  rig.StartPlain();
  Converse(rig.stub(), client);
  rig.Stop();
  client.ExpectTheMemoryOfOne();
  rig.service.side.ExpectTheMemoryOfOne();
}

TEST(StreamMessageTest, Synchronous) { ExpectStreamsOfOneMessage<SyncService>(); }

TEST(StreamMessageTest, CallbackBidirectional) { ExpectStreamsOfOneMessage<CallbackService>(); }

TEST(StreamMessageTest, OnACompletionQueue) {
  Rig<CallbackService> rig;
  Side client;
  rig.StartPlain();
  {
    ::grpc::CompletionQueue queue;
    ::grpc::ClientContext context;
    const auto wait = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    const auto stream = rig.stub().AsyncChat(&context, &queue, nullptr);
    ASSERT_TRUE(wait());
    StreamMessage<Task> task(client.scopes);
    StreamMessage<Result> result(client.scopes);
    for (int i = 0; i < kMessages; ++i) {
      Fill(task.Renew(), i);
      stream->Write(task.message(), nullptr);
      ASSERT_TRUE(wait());
      stream->Read(result.Renew(), nullptr);
      ASSERT_TRUE(wait());
      ASSERT_EQ(result.message().number(), i);
      client.Note();
    }
    stream->WritesDone(nullptr);
    ASSERT_TRUE(wait());
    ::grpc::Status status;
    stream->Finish(&status, nullptr);
    ASSERT_TRUE(wait());
    EXPECT_TRUE(status.ok());
  }
  rig.Stop();
  client.ExpectTheMemoryOfOne();
}

TEST(StreamMessageTest, AStreamThatIsCutOffGivesItsMessagesBack) {
  Rig<CallbackService> rig;
  rig.StartPlain();
  for (int i = 0; i < 20; ++i) {
    ::grpc::ClientContext context;
    const auto stream = rig.stub().Chat(&context);
    Task task;
    Fill(&task, i);
    stream->Write(task);
    context.TryCancel();
    EXPECT_FALSE(stream->Finish().ok());
  }
  rig.Stop();
  EXPECT_EQ(rig.service.side.scopes.stats().scopes_live(), 0u);
  EXPECT_EQ(rig.service.side.pool.stats().bytes_in_use, 0u);
}

TEST(StreamMessageDeathTest, APoolThatMayThrowIsNotTaken) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ScopePool scopes;
        StreamMessage<Task> message(scopes);
        message.Renew();
      },
      "MessagesMayThrow::kNo");
}

}  // namespace
}  // namespace harena::grpc
