// Where one request's two messages come from, one class per mode:
//   Begin(), Parse(wire) or Fill(source), handler, ..., End(), and again.
// `Shared` is what the threads of a service share. Thread rule: each object one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <google/protobuf/arena.h>

#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope_pool.h"

namespace harena::bench {

/// The part that most modes have in common.
template <typename Method>
struct PlainMessages {
  bool Parse(std::string_view wire) {
    return request->ParseFromArray(wire.data(), static_cast<int>(wire.size()));
  }
  void Fill(const typename Method::Request& source) { request->CopyFrom(source); }

  typename Method::Request* request = nullptr;
  typename Method::Response* response = nullptr;
};

template <typename Method>
struct HeapMessages : PlainMessages<Method> {
  struct Shared {};
  explicit HeapMessages(Shared&) {}

  void Begin() {
    this->request = new typename Method::Request;
    this->response = new typename Method::Response;
  }
  void End() {
    delete this->request;
    delete this->response;
  }
};

template <typename Method>
struct ClearedMessages : PlainMessages<Method> {
  struct Shared {};
  explicit ClearedMessages(Shared&) {
    this->request = request_owner.get();
    this->response = response_owner.get();
  }

  void Begin() {}
  void End() {
    this->request->Clear();
    this->response->Clear();
  }

  std::unique_ptr<typename Method::Request> request_owner =
      std::make_unique<typename Method::Request>();
  std::unique_ptr<typename Method::Response> response_owner =
      std::make_unique<typename Method::Response>();
};

template <typename Method>
struct StockArenaMessages : PlainMessages<Method> {
  struct Shared {};
  explicit StockArenaMessages(Shared&) {}

  void Begin() {
    arena.emplace();
    this->request = pb::CreateOn<typename Method::Request>(*arena);
    this->response = pb::CreateOn<typename Method::Response>(*arena);
  }
  void End() { arena.reset(); }

  std::optional<google::protobuf::Arena> arena;
};

template <typename Method>
struct PagesMessages : PlainMessages<Method> {
  struct Shared {
    ScopePool scopes{{.mode = Mode::kPages}};
  };
  explicit PagesMessages(Shared& state) : shared(state) {}

  void Begin() {
    scope.emplace(shared.scopes.Acquire());
    this->request = scope->CreateMessage<typename Method::Request>();
    this->response = scope->CreateMessage<typename Method::Response>();
  }
  bool Parse(std::string_view wire) {
    return static_cast<bool>(pb::Parse(*scope, wire, *this->request));
  }
  void End() { scope.reset(); }

  Shared& shared;
  std::optional<Scope> scope;
};

template <typename Method>
struct ReuseMessages : PlainMessages<Method> {
  struct Shared {
    ScopePool scopes{{.mode = Mode::kReuse}};
    pb::MessageKeeper keeper{Method::Request::default_instance(),
                             Method::Response::default_instance(),
                             {.mode = Mode::kReuse}};
  };
  explicit ReuseMessages(Shared& state) : shared(state) {}

  void Begin() {
    scope.emplace(shared.scopes.Acquire());
    const pb::MessageKeeper::Pair pair = shared.keeper.Take(*scope);
    this->request = static_cast<typename Method::Request*>(pair.request);
    this->response = static_cast<typename Method::Response*>(pair.response);
  }
  bool Parse(std::string_view wire) {
    return static_cast<bool>(pb::Parse(*scope, wire, *this->request));
  }
  void End() { scope.reset(); }

  Shared& shared;
  std::optional<Scope> scope;
};

/// The generated codec: a request that is only read, a response that the handler builds.
template <typename Method>
struct CodecMessages {
  struct Shared {
    ScopePool scopes{{.mode = Mode::kCodec}};
  };
  explicit CodecMessages(Shared& state) : shared(state) {}

  void Begin() {
    scope.emplace(shared.scopes.Acquire());
    response = scope->CreateMessage<typename Method::Response>();
  }
  bool Parse(std::string_view wire) {
    const auto parsed = pb::ParseFrozen<typename Method::Request>(*scope, wire);
    request = parsed.message;
    return static_cast<bool>(parsed.result);
  }
  void Fill(const typename Method::Request& source) {
    auto* filled = scope->CreateMessage<typename Method::Request>();
    filled->CopyFrom(source);
    request = filled;
  }
  void End() { scope.reset(); }

  Shared& shared;
  std::optional<Scope> scope;
  const typename Method::Request* request = nullptr;
  typename Method::Response* response = nullptr;
};

}  // namespace harena::bench
