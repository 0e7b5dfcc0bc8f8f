#include "subject.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/test_messages_proto2.pb.h>
#include <google/protobuf/test_messages_proto3.pb.h>

#include "harena/pb/arena/message.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/scope/scope.h"

namespace harena::testee {
namespace {

using google::protobuf::Message;
using protobuf_test_messages::proto2::TestAllTypesProto2;
using protobuf_test_messages::proto3::TestAllTypesProto3;

using pb::test::ChunkedStream;

bool SerializeByStockInOrder(const Message& message, std::string& wire) {
  google::protobuf::io::StringOutputStream stream(&wire);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  return message.SerializeToCodedStream(&coded);
}

template <typename T>
class StockSubject final : public Subject {
 public:
  explicit StockSubject(size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  Parsed ParseWire(std::string_view wire) override {
    if (Parse(wire)) return {&message_, {}};
    return {nullptr, {pb::ParseStatus::kMalformed, {}}};
  }
  Message& MakeEmpty() override { return message_; }
  bool Serialize(const Message& message, std::string& wire) const override {
    return SerializeByStockInOrder(message, wire);
  }

 private:
  bool Parse(std::string_view wire) {
    if (chunk_bytes_ == 0) {
      return message_.ParseFromArray(wire.data(), static_cast<int>(wire.size()));
    }
    ChunkedStream input(wire, chunk_bytes_);
    return message_.ParseFromZeroCopyStream(&input);
  }

  const size_t chunk_bytes_;
  T message_;
};

template <typename T>
class ScopeSubject final : public Subject {
 public:
  explicit ScopeSubject(const Route& route) : route_(route) {}

  Parsed ParseWire(std::string_view wire) override {
    return route_.kind == Route::Kind::kFrozen ? ParseFrozen(wire) : ParseOpen(wire);
  }
  Message& MakeEmpty() override { return *scope_.CreateMessage<T>(); }
  bool Serialize(const Message& message, std::string& wire) const override {
    if (!pb::codec::HasCodec<T>) return SerializeByStockInOrder(message, wire);
    return message.SerializeToString(&wire);  // the codec's order is that of the keys
  }

 private:
  Parsed ParseFrozen(std::string_view wire) {
    if (route_.chunk_bytes == 0) return Result(pb::ParseFrozen<T>(scope_, wire));
    ChunkedStream input(wire, route_.chunk_bytes);
    return Result(pb::ParseFrozen<T>(scope_, input, wire.size()));
  }
  Parsed ParseOpen(std::string_view wire) {
    T* message = scope_.CreateMessage<T>();
    if (route_.chunk_bytes == 0) return Result(message, pb::Parse(scope_, wire, *message));
    ChunkedStream input(wire, route_.chunk_bytes);
    return Result(message, pb::Parse(scope_, input, wire.size(), *message));
  }
  static Parsed Result(const pb::Frozen<T>& frozen) { return {frozen.message, frozen.result}; }
  static Parsed Result(const T* message, const pb::ParseResult& result) {
    return {result ? message : nullptr, result};
  }

  const Route route_;
  Scope scope_{{.mode = Mode::kCodec}};
};

template <typename T>
std::unique_ptr<Subject> Make(const Route& route) {
  if (route.kind == Route::Kind::kStock) {
    return std::make_unique<StockSubject<T>>(route.chunk_bytes);
  }
  return std::make_unique<ScopeSubject<T>>(route);
}

}  // namespace

bool HasCodec() noexcept {
  return pb::codec::HasCodec<TestAllTypesProto2> && pb::codec::HasCodec<TestAllTypesProto3>;
}

std::unique_ptr<Subject> MakeSubject(std::string_view message_type, const Route& route) {
  if (message_type == TestAllTypesProto3::descriptor()->full_name()) {
    return Make<TestAllTypesProto3>(route);
  }
  if (message_type == TestAllTypesProto2::descriptor()->full_name()) {
    return Make<TestAllTypesProto2>(route);
  }
  return nullptr;
}

}  // namespace harena::testee
