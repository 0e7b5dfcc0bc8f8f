// One request as tRPC's server serves it, without its sockets. Not installed.
#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <trpc/codec/trpc/trpc_server_codec.h>
#include <trpc/compressor/trpc_compressor.h>
#include <trpc/serialization/trpc_serialization.h>
#include <trpc/server/server_context.h>
#include <trpc/util/buffer/zero_copy_stream.h>
#include <trpc/util/time.h>

#include "harena/adapters/trpc/test_service.h"

namespace harena::trpc {

using ::trpc::NoncontiguousBuffer;

/// Serializations, compressors and codecs, as a tRPC process has them.
class TrpcTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::trpc::serialization::Init();
    ::trpc::compressor::Init();
  }
  static void TearDownTestSuite() {
    ::trpc::compressor::Destroy();
    ::trpc::serialization::Destroy();
  }
};

inline NoncontiguousBuffer BytesOf(const google::protobuf::Message& message) {
  return ::trpc::CreateBufferSlow(message.SerializeAsString());
}

/// One request as tRPC's server serves it, without its sockets: the context is made, the service
/// dispatches to the method's handler, and the context goes.
class OneCall {
 public:
  explicit OneCall(::trpc::Service& service) : context_(::trpc::MakeRefCounted<ServerContext>()) {
    context_->SetRecvTimestampUs(::trpc::time::GetMicroSeconds());
    context_->SetService(&service);
    context_->SetFilterController(&service.GetFilterController());
    context_->SetServerCodec(&codec_);
    context_->SetRequestMsg(codec_.CreateRequestObject());
    context_->SetResponseMsg(codec_.CreateResponseObject());
    context_->SetReqEncodeType(::trpc::serialization::kPbType);
    context_->SetRspEncodeType(::trpc::serialization::kPbType);
  }

  ServerContextPtr& context() { return context_; }

  /// Runs the method of that name; what is left to do is in the context.
  void Run(const std::string& name, NoncontiguousBuffer bytes) {
    const auto& methods = context_->GetService()->GetRpcServiceMethod();
    methods.at(name)->GetRpcMethodHandler()->Execute(context_, std::move(bytes), reply_);
  }
  void Run(const std::string& name, const google::protobuf::Message& request) {
    Run(name, BytesOf(request));
  }

  bool ok() { return context_->GetStatus().OK(); }
  int code() { return context_->GetStatus().GetFrameworkRetCode(); }
  NoncontiguousBuffer& reply_bytes() { return reply_; }
  template <typename Response>
  Response Reply() {
    Response response;
    EXPECT_TRUE(response.ParseFromString(::trpc::FlattenSlow(reply_)));
    return response;
  }

 private:
  inline static ::trpc::TrpcServerCodec codec_;
  ServerContextPtr context_;
  NoncontiguousBuffer reply_;
};

}  // namespace harena::trpc
