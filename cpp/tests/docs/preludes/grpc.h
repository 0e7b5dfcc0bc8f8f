#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "harena/adapters/grpc/call.h"
#include "harena/adapters/grpc/scope_of.h"
#include "harena/adapters/grpc/server.h"
#include "harena/adapters/grpc/stream_message.h"
#include "harena/bench/v1/demo.grpc.pb.h"
#include "harena/bench/v1/demo.harena.grpc.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/parse/parse.h"

namespace feed {
using Request = harena::bench::v1::RankRequest;
using Response = harena::bench::v1::RankResponse;
using Feed = harena::bench::v1::DemoService;
inline constexpr char kRank[] = "/harena.bench.v1.DemoService/Rank";
}  // namespace feed

using namespace feed;

extern Feed::CallbackService& service;
extern Feed::AsyncService& async_service;
extern Feed::Stub* stub;
extern harena::grpc::Server& scoped;
extern harena::PagePool& pool;
extern grpc::CallbackServerContext* context;
extern const Request* request;
extern Response* response;
extern grpc::ServerReaderWriter<Response, Request>* stream;
extern grpc::ServerCompletionQueue* queue;
extern grpc::ByteBuffer buffer;

inline void FillIn(Request&) {}
inline void Answer(const Request&, Response&) {}
inline void Use(const Response&) {}
inline void Index(const Request&) {}
