// One unary call as tRPC's server serves it, without its sockets: the steps of
// UnaryRpcMethodHandler in its server/rpc/unary_rpc_method_handler.h. Not installed.
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/trpc/trpc_side.h"
#include "harena/pb/layout/names.h"
#include "harena/test/trpc_work.pb.h"

namespace harena::trpc {

using google::protobuf::util::MessageDifferencer;
using test::trpc::Holder;
using test::trpc::Result;
using test::trpc::Task;

inline Task MakeTask(int items = 20) {
  Task task;
  task.set_text("longer than any string's own room");
  task.set_number(41);
  for (int i = 0; i < items; ++i) {
    auto* item = task.add_items();
    item->set_name("item with a name of ordinary length " + std::to_string(i));
    for (int score = 0; score < 8; ++score) item->add_scores(score * i);
    (*item->mutable_labels())["key"] = "value of a label, of ordinary length " + std::to_string(i);
  }
  return task;
}

inline void Answer(const Task& task, Result* result) {
  result->set_text("re: " + task.text());
  result->set_number(task.number() + 1);
  for (const auto& item : task.items()) *result->add_items() = item;
}

inline Result Expected(const Task& task) {
  Result result;
  Answer(task, &result);
  return result;
}

/// What PbSerialization::Deserialize() does with a buffer of several pieces.
inline bool ParseAsTrpc(const std::string& bytes, google::protobuf::Message* message) {
  google::protobuf::io::ArrayInputStream pieces(bytes.data(), static_cast<int>(bytes.size()), 500);
  return message->ParsePartialFromZeroCopyStream(&pieces);
}

/// What PbSerialization::Serialize() does.
inline std::string SerializeAsTrpc(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  return message.SerializePartialToZeroCopyStream(&stream) ? bytes : std::string();
}

/// Thread rule: each step on any thread, one after the other, as fibers move.
template <typename Request, typename Response>
class TestCall {
 public:
  /// PreExecute(): an arena for each message.
  TestCall()
      : request_arena_(trpc_side::NewArena()),
        request_(pb::CreateOn<Request>(*request_arena_)),
        response_arena_(trpc_side::NewArena()),
        response_(pb::CreateOn<Response>(*response_arena_)) {}

  bool Read(const std::string& bytes) { return ParseAsTrpc(bytes, request_); }
  Request& request() { return *request_; }
  Response& response() { return *response_; }

  /// PostExecute(): the arenas go right after the response is bytes, request first.
  std::string Write() {
    std::string bytes = SerializeAsTrpc(*response_);
    request_arena_.reset();
    response_arena_.reset();
    return bytes;
  }

 private:
  std::unique_ptr<google::protobuf::Arena> request_arena_;
  Request* request_;
  std::unique_ptr<google::protobuf::Arena> response_arena_;
  Response* response_;
};

}  // namespace harena::trpc
