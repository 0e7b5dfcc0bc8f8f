// How calls end: every way must give all memory back, and look to the client as plain gRPC does.
#include <sys/socket.h>
#include <unistd.h>

#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "harena/adapters/grpc/test_rig.h"

namespace harena::grpc {
namespace {

using std::chrono::milliseconds;

class Lifecycle : public ModeTest {
 protected:
  void TearDown() override {
    rig.ExpectAllMemoryBack();
    EXPECT_EQ(rig.stats().scopes.scopes_made, rig.stats().requests);
    // The server goes on as if nothing had been.
    rig.service.on_run = HookedService().on_run;
    Result result;
    EXPECT_TRUE(rig.Run(MakeTask(), &result).ok());
    EXPECT_EQ(result.number(), 42);
    rig.ExpectAllMemoryBack();
    rig.Stop();
  }

  Rig<> rig;
};
INSTANTIATE_TEST_SUITE_P(Modes, Lifecycle, ::testing::ValuesIn(kModes), ModeName);

// Handlers that wait until the call is cancelled, and then finish it.
auto FinishOnCancel(std::atomic<int>& entered, std::atomic<int>& cancelled) {
  return [&](::grpc::CallbackServerContext*, const Task* task, Result* result) {
    Answer(*task, result);
    auto* reactor = new TestReactor({}, [&cancelled](TestReactor& self) {
      cancelled.fetch_add(1);
      self.Finish(::grpc::Status::CANCELLED);
    });
    entered.fetch_add(1);
    return reactor;
  };
}

TEST_P(Lifecycle, AnErrorStatusReachesTheClient) {
  rig.service.on_run = [](::grpc::CallbackServerContext*, const Task* task, Result* result) {
    Answer(*task, result);
    return FinishNow({::grpc::StatusCode::FAILED_PRECONDITION, "not now"});
  };
  rig.Start(GetParam());
  const ::grpc::Status status = rig.Run(MakeTask());
  EXPECT_EQ(status.error_code(), ::grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "not now");
}

TEST_P(Lifecycle, ALateFinishOnAnotherThread) {
  std::vector<std::thread> threads;
  rig.service.on_run = [&](::grpc::CallbackServerContext*, const Task* task, Result* result) {
    auto* reactor = new TestReactor;
    threads.emplace_back([=] {
      std::this_thread::sleep_for(milliseconds(5));
      Answer(*task, result);
      reactor->Finish(::grpc::Status::OK);
    });
    return reactor;
  };
  rig.Start(GetParam());
  for (int i = 0; i < 4; ++i) {
    Result result;
    ASSERT_TRUE(rig.Run(MakeTask(), &result).ok());
    EXPECT_EQ(result.items_size(), MakeTask().items_size());
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Lifecycle, TheScopeEndsAfterOnDoneAndNotAtFinish) {
  std::atomic<bool> done{false};
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task* task,
                           Result* result) {
    Answer(*task, result);
    auto* reactor = new TestReactor([&, context, result] {
      // The response is with the transport; its memory is still the call's.
      EXPECT_EQ(rig.scopes_live(), 1u);
      EXPECT_EQ(rig.stats().scopes.scopes_ended, 0u);
      EXPECT_GT(ScopeOf(*context).bytes_used(), 0u);
      EXPECT_EQ(result->number(), 42);
      done = true;
    });
    reactor->Finish(::grpc::Status::OK);
    // Finished, but gRPC has not even serialized it yet.
    EXPECT_EQ(result->number(), 42);
    return reactor;
  };
  rig.Start(GetParam());
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  rig.ExpectAllMemoryBack();
  EXPECT_TRUE(done);
  EXPECT_EQ(rig.stats().scopes.scopes_ended, 1u);
}

TEST_P(Lifecycle, CancelledWhileTheHandlerWaits) {
  std::atomic<int> entered{0}, cancelled{0};
  rig.service.on_run = FinishOnCancel(entered, cancelled);
  rig.Start(GetParam());
  ::grpc::ClientContext context;
  std::thread canceller([&] {
    EXPECT_TRUE(Eventually([&] { return entered == 1; }));
    context.TryCancel();
  });
  Result result;
  EXPECT_EQ(rig.stub().Run(&context, MakeTask(), &result).error_code(),
            ::grpc::StatusCode::CANCELLED);
  canceller.join();
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(cancelled, 1);
}

TEST_P(Lifecycle, CancelledAtAnyMoment) {
  rig.Start(GetParam());
  for (int i = 0; i < 60; ++i) {
    ::grpc::ClientContext context;
    std::latch returned(1);
    Result result;
    const Task task = MakeTask();
    rig.stub().async()->Run(&context, &task, &result,
                            [&](const ::grpc::Status&) { returned.count_down(); });
    if (i % 3 != 0) std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
    context.TryCancel();
    returned.wait();
  }
}

TEST_P(Lifecycle, TheDeadlinePasses) {
  std::atomic<int> entered{0}, cancelled{0};
  rig.service.on_run = FinishOnCancel(entered, cancelled);
  rig.Start(GetParam());
  ::grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + milliseconds(50));
  Result result;
  EXPECT_EQ(rig.stub().Run(&context, MakeTask(), &result).error_code(),
            ::grpc::StatusCode::DEADLINE_EXCEEDED);
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(cancelled, entered);
}

TEST_P(Lifecycle, WhatGrpcRefusesItselfIsRefusedAlike) {
  const auto small = [](::grpc::ServerBuilder& builder) {
    builder.SetMaxReceiveMessageSize(64 << 10);
  };
  Task endless = MakeTask();
  endless.mutable_text()->assign(1 << 20, 'x');
  const std::string inputs[] = {
      endless.SerializeAsString(),  // too large
      std::string(),                // nothing: an empty message
  };
  Rig<> plain;
  plain.StartPlain(small);
  rig.Start(Options{.mode = GetParam()}, small);
  for (const std::string& input : inputs) {
    const ::grpc::Status expected = plain.RunRaw(input);
    const ::grpc::Status status = rig.RunRaw(input);
    EXPECT_EQ(status.error_code(), expected.error_code());
    EXPECT_EQ(status.error_message(), expected.error_message());
  }
  EXPECT_EQ(rig.service.calls, plain.service.calls);
  EXPECT_EQ(rig.stats().malformed, 0u);
}

// Plain gRPC answers UNIMPLEMENTED, without a word.
TEST_P(Lifecycle, AMalformedRequestIsAnsweredWithAReason) {
  rig.Start(GetParam());
  const std::string wire = MakeTask().SerializeAsString();
  const std::string inputs[] = {
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",  // no wire format at all
      wire.substr(0, wire.size() - 3),             // cut off
      std::string("\x12\x02\xc3\x28", 4),          // a string that is not UTF-8
      std::string("\x12\xff\xff\xff\xff\x0f", 6),  // a length that is not there
  };
  for (const std::string& input : inputs) {
    const ::grpc::Status status = rig.RunRaw(input);
    EXPECT_EQ(status.error_code(), ::grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(status.error_message(),
              "harena: /harena.test.Work/Run: the request is no valid harena.test.Task");
  }
  EXPECT_EQ(rig.service.calls, 0);
  EXPECT_EQ(rig.stats().malformed, std::size(inputs));
  rig.ExpectAllMemoryBack();
}

// A unary call without any message: HTTP/2 allows what no stub does.
::grpc::Status CallWithoutMessage(Rig<>& rig) {
  ::grpc::GenericStub stub(rig.channel());
  ::grpc::CompletionQueue queue;
  ::grpc::ClientContext context;
  auto call = stub.PrepareCall(&context, kRun, &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(&queue);
  queue.Next(&tag, &ok);
  call->WritesDone(&queue);
  queue.Next(&tag, &ok);
  ::grpc::Status status;
  call->Finish(&status, &queue);
  queue.Next(&tag, &ok);
  return status;
}

TEST_P(Lifecycle, ACallWithoutAMessage) {
  rig.Start(GetParam());
  EXPECT_EQ(CallWithoutMessage(rig).error_code(), ::grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(rig.service.calls, 0);
  rig.ExpectAllMemoryBack();
}

TEST_P(Lifecycle, AHandlerWithoutMemoryIsARefusal) {
  rig.service.on_run = [](::grpc::CallbackServerContext* context, const Task* task,
                          Result* result) -> ::grpc::ServerUnaryReactor* {
    Answer(*task, result);
    if (task->text() == "after taking the reactor") context->DefaultReactor();
    throw std::bad_alloc();
  };
  rig.Start(GetParam());
  for (const char* text : {"at once", "after taking the reactor"}) {
    Task task = MakeTask();
    task.set_text(text);
    const ::grpc::Status status = rig.Run(task);
    EXPECT_EQ(status.error_code(), ::grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_NE(status.error_message(), "");
  }
  EXPECT_EQ(rig.stats().refused_by.memory, 2u);
  rig.ExpectAllMemoryBack();
}

TEST_P(Lifecycle, AHandlersOtherExceptionsAreGrpcs) {
  const auto throwing = [](::grpc::CallbackServerContext*, const Task* task,
                           Result* result) -> ::grpc::ServerUnaryReactor* {
    Answer(*task, result);
    throw std::runtime_error("a handler's own trouble");
  };
  Rig<> plain;
  plain.service.on_run = throwing;
  plain.StartPlain();
  rig.service.on_run = throwing;
  rig.Start(GetParam());
  const ::grpc::Status expected = plain.Run(MakeTask());
  const ::grpc::Status status = rig.Run(MakeTask());
  EXPECT_EQ(status.error_code(), expected.error_code());
  EXPECT_EQ(status.error_message(), expected.error_message());
}

// Starts a call whose large response nobody reads; returns once the server is stuck in sending it.
class UnreadCall {
 public:
  explicit UnreadCall(Rig<>& rig) : stub_(rig.channel()) {
    call_ = stub_.PrepareCall(&context, kRun, &queue_);
    call_->StartCall(&queue_);
    Next();
    const ::grpc::Slice slice(MakeTask().SerializeAsString());
    call_->Write(::grpc::ByteBuffer(&slice, 1), &queue_);
    Next();
    call_->WritesDone(&queue_);
    Next();
  }
  bool Read(::grpc::ByteBuffer* response) {
    call_->Read(response, &queue_);
    return Next();
  }
  ::grpc::Status Finish() {
    ::grpc::Status status;
    call_->Finish(&status, &queue_);
    Next();
    return status;
  }

  ::grpc::ClientContext context;

 private:
  bool Next() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  ::grpc::GenericStub stub_;
  ::grpc::CompletionQueue queue_;
  std::unique_ptr<::grpc::GenericClientAsyncReaderWriter> call_;
};

TEST_P(Lifecycle, ASlowReaderKeepsTheScopeUntilItHasRead) {
  rig.service.on_run = [](::grpc::CallbackServerContext*, const Task*, Result* result) {
    result->mutable_text()->assign(4 << 20, 'x');
    return FinishNow();
  };
  rig.Start(GetParam());
  for (const bool reads : {true, false}) {
    UnreadCall call(rig);
    EXPECT_TRUE(Eventually([&] { return rig.service.calls > (reads ? 0 : 1); }));
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_EQ(rig.scopes_live(), 1u);
    ::grpc::ByteBuffer response;
    if (reads) {
      EXPECT_TRUE(call.Read(&response));
      EXPECT_GT(response.Length(), size_t{4} << 20);
      EXPECT_TRUE(call.Finish().ok());
    } else {
      call.context.TryCancel();
      EXPECT_EQ(call.Finish().error_code(), ::grpc::StatusCode::CANCELLED);
    }
    rig.ExpectAllMemoryBack();
  }
}

// A client without gRPC that can vanish at any byte: HTTP/2 by hand.
class BareClient {
 public:
  explicit BareClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    std::string headers;
    const std::pair<std::string, std::string> fields[] = {
        {":method", "POST"},    {":scheme", "http"}, {":path", kRun},
        {":authority", "test"}, {"te", "trailers"},  {"content-type", "application/grpc"}};
    for (const auto& [name, value] : fields) {  // HPACK: literal, not indexed
      headers += std::string(1, '\0') + static_cast<char>(name.size()) + name +
                 static_cast<char>(value.size()) + value;
    }
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(/*settings*/ 4, 0, 0, "") +
         Frame(/*headers*/ 1, /*end of headers*/ 4, 1, headers));
  }
  ~BareClient() { ::close(socket_); }

  /// The request, without its last `missing` bytes. A whole one ends the client's side.
  void SendMessage(const std::string& wire, size_t missing = 0) {
    std::string message(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) {
      message += static_cast<char>(wire.size() >> shift & 0xff);
    }
    message += wire;
    message.resize(message.size() - missing);
    Send(Frame(/*data*/ 0, missing == 0 ? /*end of stream*/ 1 : 0, 1, message));
  }

 private:
  static std::string Frame(char type, char flags, char stream, const std::string& body) {
    std::string frame;
    for (int shift = 16; shift >= 0; shift -= 8) {
      frame += static_cast<char>(body.size() >> shift & 0xff);
    }
    return frame + type + flags + std::string(3, '\0') + stream + body;
  }
  void Send(const std::string& bytes) {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  const int socket_;
};

TEST_P(Lifecycle, TheClientVanishes) {
  std::atomic<int> entered{0}, cancelled{0};
  rig.service.on_run = FinishOnCancel(entered, cancelled);
  rig.Start(GetParam());
  const std::string wire = MakeTask(3).SerializeAsString();
  {
    BareClient client(rig.port());
    client.SendMessage(wire, /*missing=*/5);
    std::this_thread::sleep_for(milliseconds(10));
  }
  {
    BareClient client(rig.port());
    client.SendMessage(wire);
    EXPECT_TRUE(Eventually([&] { return entered == 1; }));
  }
  EXPECT_TRUE(Eventually([&] { return cancelled == 1; }));
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(entered, 1) << "half a message is none";
}

TEST(LifecycleTest, ShutdownUnderLoad) {
  for (const Mode mode : kModes) {
    Rig<> rig;
    std::atomic<int> entered{0}, cancelled{0};
    auto wait_for_cancel = FinishOnCancel(entered, cancelled);
    rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task* task,
                             Result* result) -> ::grpc::ServerUnaryReactor* {
      if (task->number() % 2 == 0) return wait_for_cancel(context, task, result);
      Answer(*task, result);
      return FinishNow();
    };
    rig.Start(mode);
    std::atomic<bool> stop{false};
    std::vector<std::thread> clients;
    for (int i = 0; i < 6; ++i) {
      clients.emplace_back([&, i] {
        Task task = MakeTask();
        task.set_number(i);
        while (!stop && rig.Run(task).ok()) {
        }
      });
    }
    // The even ones hang in their handlers, the odd ones come and go.
    EXPECT_TRUE(Eventually([&] { return entered == 3 && rig.service.calls > 30; }));
    rig.server().Shutdown(std::chrono::system_clock::now() + milliseconds(20));
    // Shutdown() has waited for every call, down to its memory.
    EXPECT_EQ(rig.scopes_live(), 0u);
    EXPECT_EQ(cancelled, 3);
    stop = true;
    for (std::thread& client : clients) client.join();
    rig.ExpectAllMemoryBack();
  }
}

}  // namespace
}  // namespace harena::grpc
