// An input that is looked at before protobuf gets it.
#pragma once

#include <cstddef>

#include <google/protobuf/io/zero_copy_stream.h>

#include "harena/pb/wire/refusing_stream.h"
#include "harena/pb/wire/walker.h"
#include "harena/scope/scope.h"

namespace harena::pb::wire {

/// Gives out the pieces of another stream, after what their unknown fields will take from the heap
/// has been charged to a scope. What it does not give out ends the parse: a refusal, or bytes that
/// no parser would accept.
/// Thread rule: the scope's thread. Lifetime rule: all that it was made with must outlive it.
class CountedStream final : public RefusingStream {
 public:
  CountedStream(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes, Scope& scope,
                Walker& walker) noexcept
      : RefusingStream(input, wire_bytes), scope_(scope), walker_(walker) {}

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;

 private:
  bool Count(const char* data, size_t size) noexcept;

  Scope& scope_;
  Walker& walker_;
  size_t seen_ = 0;  // what came back by BackUp() is not looked at twice
  size_t charged_bytes_ = 0;
};

}  // namespace harena::pb::wire
