#pragma once

#include "harena/bench/v1/demo.grpc.pb.h"

namespace harena::bench {

/// The demo's service as any gRPC user would write it: it knows nothing of memory modes.
/// Thread-safe; stateless.
class DemoServiceImpl final : public v1::DemoService::CallbackService {
 public:
  ::grpc::ServerUnaryReactor* Rank(::grpc::CallbackServerContext* context,
                                   const v1::RankRequest* request,
                                   v1::RankResponse* response) override;
  ::grpc::ServerUnaryReactor* BoardFeed(::grpc::CallbackServerContext* context,
                                        const transit_realtime::FeedMessage* request,
                                        v1::FeedBoard* response) override;
  ::grpc::ServerUnaryReactor* RestyleTile(::grpc::CallbackServerContext* context,
                                          const vector_tile::Tile* request,
                                          vector_tile::Tile* response) override;
};

}  // namespace harena::bench
