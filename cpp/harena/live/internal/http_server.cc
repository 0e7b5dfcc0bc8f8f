#include "harena/live/internal/http_server.h"

#include <fcntl.h>
#include <netdb.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <sstream>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include "harena/live/internal/guard.h"
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

  /// Returns where it listens, which has the port in use. Throws boost::system::system_error.
  tcp::endpoint Start(const tcp::endpoint& wanted) {
    acceptor_.open(wanted.protocol());
    CloseOnExec(acceptor_);
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    if (wanted.protocol() == tcp::v6()) acceptor_.set_option(boost::asio::ip::v6_only(true));
    acceptor_.bind(wanted);
    acceptor_.listen(tcp::acceptor::max_listen_connections);
    tcp::endpoint in_use = acceptor_.local_endpoint();
    thread_ = std::thread([this] { Run(); });
    return in_use;
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

std::optional<Endpoint> Resolve(const std::string& address, std::string* problem) {
  *problem = "\"" + address + "\" is not an address to listen on, such as 127.0.0.1:9090";
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), address.c_str() + colon + 1,
                                &hints, &found);
  if (error != 0) {
    *problem += std::string(": ") + gai_strerror(error);
    return std::nullopt;
  }
  Endpoint endpoint;
  std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
  endpoint.address_bytes = found->ai_addrlen;
  endpoint.loopback = IsLoopback(found->ai_addr);
  freeaddrinfo(found);
  return endpoint;
}

HttpServer::HttpServer(const Endpoint& endpoint, Handler& handler, const HttpBounds& bounds)
    : running_(std::make_unique<Running>(handler, bounds)) {
  std::ostringstream address;
  try {
    address << running_->Start(TcpEndpoint(endpoint));
    address_ = address.str();
  } catch (const boost::system::system_error& error) {
    problem_ = error.code().message();
  }
}

HttpServer::~HttpServer() = default;

}  // namespace harena::live::internal
