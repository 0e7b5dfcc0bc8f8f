#include "bench/demo/demo_service.h"

#include "bench/workloads/feed_board.h"
#include "bench/workloads/ranking.h"
#include "bench/workloads/tile_restyle.h"

namespace harena::bench {
namespace {

::grpc::ServerUnaryReactor* FinishOk(::grpc::CallbackServerContext* context) {
  ::grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(::grpc::Status::OK);
  return reactor;
}

}  // namespace

::grpc::ServerUnaryReactor* DemoServiceImpl::Rank(::grpc::CallbackServerContext* context,
                                                  const v1::RankRequest* request,
                                                  v1::RankResponse* response) {
  bench::Rank(*request, response);
  return FinishOk(context);
}

::grpc::ServerUnaryReactor* DemoServiceImpl::BoardFeed(::grpc::CallbackServerContext* context,
                                                       const transit_realtime::FeedMessage* request,
                                                       v1::FeedBoard* response) {
  bench::BoardFeed(*request, response);
  return FinishOk(context);
}

::grpc::ServerUnaryReactor* DemoServiceImpl::RestyleTile(::grpc::CallbackServerContext* context,
                                                         const vector_tile::Tile* request,
                                                         vector_tile::Tile* response) {
  bench::RestyleTile(*request, response);
  return FinishOk(context);
}

}  // namespace harena::bench
