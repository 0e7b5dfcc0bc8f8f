#include "harena/live/internal/http_server.h"

#include <fcntl.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>

#include "harena/live/internal/http_session.h"

namespace harena::live::internal {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// After a failure to accept, such as too many open files: others may close some meanwhile.
constexpr std::chrono::milliseconds kAcceptAgainAfter{100};

tcp::endpoint TcpEndpoint(const Endpoint& endpoint) {
  tcp::endpoint tcp;
  tcp.resize(endpoint.address_bytes);
  std::memcpy(tcp.data(), &endpoint.address, endpoint.address_bytes);
  return tcp;
}

/// Programs that the server starts have no business with its sockets.
template <typename Socket>
void CloseOnExec(Socket& socket) noexcept {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

}  // namespace

/// Thread rule: all but constructor, Start() and destructor are of its own thread.
class HttpServer::Running {
 public:
  Running(Handler& handler, const HttpBounds& bounds) : handler_(handler), sessions_(bounds) {}

  ~Running() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Returns the port, or 0 and the error.
  uint16_t Start(const Endpoint& endpoint, error_code& error) {
    const tcp::endpoint wanted = TcpEndpoint(endpoint);
    acceptor_.open(wanted.protocol(), error);
    if (error) return 0;
    CloseOnExec(acceptor_);
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && wanted.protocol() == tcp::v6()) {
      acceptor_.set_option(boost::asio::ip::v6_only(true), error);
    }
    if (!error) acceptor_.bind(wanted, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (error) return 0;
    const uint16_t port = acceptor_.local_endpoint(error).port();
    if (!error) thread_ = std::thread([this] { Run(); });
    return port;
  }

 private:
  void Run() noexcept {
    while (!io_.stopped()) {
      try {
        if (!accepting_) Accept();
        io_.run();
      } catch (const std::exception&) {
        // No memory, for one connection: it has ended by now, and the others go on.
      }
    }
  }

  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      accepting_ = false;
      if (error) {
        AcceptLater();
      } else {
        Accept();
        Admit(std::move(socket));
      }
    });
    accepting_ = true;
  }

  void AcceptLater() {
    timer_.expires_after(kAcceptAgainAfter);
    timer_.async_wait([this](error_code) {
      accepting_ = false;
      Accept();
    });
    accepting_ = true;
  }

  void Admit(tcp::socket socket) {
    CloseOnExec(socket);
    error_code error;
    const tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return;  // it has gone
    socket.set_option(tcp::no_delay(true), error);
    std::make_shared<HttpSession>(std::move(socket), IsLoopback(from.data()), handler_, sessions_)
        ->Begin();
  }

  Handler& handler_;
  HttpSessions sessions_;  // before io_, whose end is that of every session
  boost::asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  boost::asio::steady_timer timer_{io_};
  bool accepting_ = false;
  std::thread thread_;
};

HttpServer::HttpServer(const Endpoint& endpoint, Handler& handler, const HttpBounds& bounds)
    : running_(std::make_unique<Running>(handler, bounds)) {
  error_code error;
  const uint16_t port = running_->Start(endpoint, error);
  if (error) {
    problem_ = error.message();
  } else {
    address_ = TextOf(endpoint, port);
  }
}

HttpServer::~HttpServer() = default;

}  // namespace harena::live::internal
