// Traffic of one method whose types are known when the program is compiled.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/message_lite.h>

#include "bench/messages/request_messages.h"
#include "bench/messages/runner.h"
#include "bench/workloads/wire.h"

namespace harena::bench {

/// A `Handler` has the types Request and Response, and
///   void Handle(size_t number, const Request& request, Response* response) const;
/// which builds the response to request `number`. Any thread may call it. One that has
/// kAnswersWithTheRequest builds nothing: the request is what is serialized.
template <typename Handler, typename Messages>
class TypedRunner final : public Runner {
 public:
  TypedRunner(typename Messages::Shared& shared, const std::vector<std::string>& requests,
              const Handler& handler)
      : requests_(requests), handler_(handler), messages_(shared) {
    if (!source_.ParseFromString(requests.front())) Malformed(0);
  }

  Phases Run(size_t number) override {
    Phases phases;
    Stopwatch watch;
    BeginAndParse(number);
    phases.parse = watch.Lap();
    handler_.Handle(number, *messages_.request, messages_.response);
    phases.build = watch.Lap();
    Serialize();
    phases.serialize = watch.Lap();
    messages_.End();
    phases.destroy = watch.Lap();
    return phases;
  }

  void Fill() override {
    messages_.Begin();
    messages_.Fill(source_);
    handler_.Handle(0, *messages_.request, messages_.response);
    messages_.End();
  }

  std::string Answer(size_t number) override {
    BeginAndParse(number);
    std::string answer = DeterministicBytes(*messages_.request);
    handler_.Handle(number, *messages_.request, messages_.response);
    answer += DeterministicBytes(*messages_.response);
    messages_.End();
    return answer;
  }

  std::string_view response() const override { return {buffer_.data(), bytes_}; }

 private:
  [[noreturn]] static void Malformed(size_t number) {
    throw std::runtime_error("request " + std::to_string(number) + " does not parse");
  }

  void BeginAndParse(size_t number) {
    messages_.Begin();
    if (messages_.Parse(requests_[number])) return;
    messages_.End();
    Malformed(number);
  }

  const google::protobuf::MessageLite& sent() const {
    if constexpr (requires { Handler::kAnswersWithTheRequest; }) {
      return *messages_.request;
    } else {
      return *messages_.response;
    }
  }

  void Serialize() {
    bytes_ = sent().ByteSizeLong();
    // Once per size record: the buffer belongs to the transport, not to the message's memory.
    if (buffer_.size() < bytes_) buffer_.resize(bytes_);
    static_cast<void>(
        sent().SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(buffer_.data())));
  }

  const std::vector<std::string>& requests_;
  const Handler& handler_;
  typename Handler::Request source_;
  Messages messages_;
  std::string buffer_;
  size_t bytes_ = 0;
};

/// See Traffic. `types_carry_codec` says which of MessageModes() there are.
template <typename Handler, bool types_carry_codec>
class TypedTraffic : public Traffic {
 public:
  /// REQUIRES: at least one request.
  TypedTraffic(std::string name, std::vector<std::string> requests, Handler handler)
      : name_(std::move(name)), requests_(std::move(requests)), handler_(std::move(handler)) {}

  const std::string& name() const override { return name_; }
  const std::vector<std::string>& requests() const override { return requests_; }

  std::unique_ptr<RunnerFactory> MakeRunners(std::string_view mode) const override {
    if constexpr (types_carry_codec) {
      if (mode == "codec") return Make<CodecMessages<Handler>>();
    } else {
      if (mode == "heap") return Make<HeapMessages<Handler>>();
      if (mode == "arena") return Make<StockArenaMessages<Handler>>();
      if (mode == "pages") return Make<PagesMessages<Handler>>();
      if (mode == "reuse") return Make<ReuseMessages<Handler>>();
      if (mode == "heap_clear") return Make<ClearedMessages<Handler>>();
    }
    throw std::invalid_argument("unknown mode \"" + std::string(mode) + "\"");
  }

 private:
  template <typename Messages>
  class Factory final : public RunnerFactory {
   public:
    explicit Factory(const TypedTraffic& traffic) : traffic_(traffic) {}
    std::unique_ptr<Runner> Make() override {
      return std::make_unique<TypedRunner<Handler, Messages>>(shared_, traffic_.requests_,
                                                              traffic_.handler_);
    }

   private:
    const TypedTraffic& traffic_;
    typename Messages::Shared shared_;
  };

  template <typename Messages>
  std::unique_ptr<RunnerFactory> Make() const {
    return std::make_unique<Factory<Messages>>(*this);
  }

  const std::string name_;
  const std::vector<std::string> requests_;
  const Handler handler_;
};

}  // namespace harena::bench
