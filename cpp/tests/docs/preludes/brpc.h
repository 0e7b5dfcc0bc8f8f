#include <iostream>
#include <memory>
#include <thread>

#include <brpc/channel.h>
#include <brpc/server.h>

#include "harena/adapters/brpc/admission.h"
#include "harena/adapters/brpc/call.h"
#include "harena/adapters/brpc/capture.h"
#include "harena/adapters/brpc/message_factory.h"
#include "harena/adapters/brpc/scope_of.h"
#include "harena/adapters/brpc/within_budget.h"
#include "harena/pb/arena/message.h"
#include "harena/test/brpc_work.pb.h"

namespace feed {
using Request = harena::test::brpc::Task;
using Response = harena::test::brpc::Result;
using FeedService = harena::test::brpc::Work;
inline constexpr char kRank[] = "harena.test.brpc.Work.Run";
}  // namespace feed

using namespace feed;

extern brpc::Server server;
extern FeedService service;
extern brpc::Controller* controller;
extern brpc::Channel channel;
extern const Request* request;
extern Response* response;
extern google::protobuf::Closure* done;

inline void FillIn(Request&) {}
inline void Answer(const Request&, Response&) {}
inline void Use(const Response&) {}
inline void Index(const Request&) {}
