#include "harena/live/listener.h"

#include <cstdlib>
#include <utility>

#include "harena/live/internal/guard.h"
#include "harena/live/internal/handler.h"
#include "harena/live/internal/http_server.h"
#include "harena/mem/background_decay.h"

namespace harena::live {
namespace {

std::string TokenOf(const ListenerOptions& options) {
  if (!options.token.empty()) return options.token;
  const char* token = std::getenv(internal::kTokenVariable);
  return token == nullptr ? "" : token;
}

}  // namespace

struct Listener::Running {
  Running(const internal::Endpoint& endpoint, internal::Guard guard)
      : handler(std::move(guard)), server(endpoint, handler) {}

  internal::Handler handler;
  internal::HttpServer server;
  BackgroundDecay ticker{internal::Timeline::kInterval, [this] { handler.Tick(); }};
};

Listener::Listener(const ListenerOptions& options) {
  const std::string token = TokenOf(options);
  if (!token.empty()) problem_ = internal::WhyNoToken(token);
  if (problem_) return;
  std::string unresolved;
  const auto endpoint = internal::Resolve(options.address, &unresolved);
  if (!endpoint) {
    problem_ = unresolved;
    return;
  }
  if (!endpoint->loopback && token.empty()) {
    problem_ = "other machines can reach \"" + options.address +
               "\", which needs a token: set ListenerOptions::token or " +
               internal::kTokenVariable + ", or listen on 127.0.0.1";
    return;
  }
  running_ = std::make_unique<Running>(*endpoint, internal::Guard(token, options.hosts));
  if (const auto& problem = running_->server.problem()) {
    problem_ = "cannot listen on " + options.address + ": " + *problem;
    running_.reset();
    return;
  }
  address_ = running_->server.address();
}

Listener::~Listener() = default;

}  // namespace harena::live
