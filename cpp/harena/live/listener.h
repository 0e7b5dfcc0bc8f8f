// A page about a running server: what each method's requests take, what was refused, and switches
// for modes and limits. The same page and answers as those of Go's package live.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace harena::live {

/// Where the page is, and who may do what.
struct ListenerOptions {
  /// "127.0.0.1:9090", "[::1]:9090"; port 0 for any. One that other machines can reach is refused
  /// unless there is a token.
  std::string address = "127.0.0.1:9090";
  /// What a change has to carry ("Authorization: Bearer ..."), and every request from another
  /// machine: 16 printable characters or more, without spaces. Empty takes the environment's
  /// HARENA_LIVE_TOKEN; where that is empty too, nothing can be changed.
  std::string token = {};
  /// Names by which the page may be asked for, without a port, beside localhost and addresses.
  /// Other names are refused, so that no web site can pose as this server in a browser.
  std::vector<std::string> hosts = {};
};

/// Serves the page at http://ADDRESS/harena while it stands. It speaks of every server of the
/// process (pb::ForEachServedMethods): nothing is to be registered. It has a thread that answers
/// and one that takes a sample of all counts each second.
///
/// What it gives away: names of methods, their settings and counts, to everybody on this machine;
/// never what is in a message. Without a token nothing can be changed and other machines are told
/// nothing. The connection is not encrypted.
///
/// Thread rule: any thread. Lifetime rule: servers and page pools may come and go meanwhile, as
///   they may without it.
class Listener {
 public:
  explicit Listener(const ListenerOptions& options = {});
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Why it serves nothing (the address is taken, or needs a token), and what to do; nullopt when
  /// it does.
  const std::optional<std::string>& problem() const noexcept { return problem_; }
  /// "127.0.0.1:9090" with the port in use; empty when there is a problem.
  const std::string& address() const noexcept { return address_; }

 private:
  struct Running;

  std::optional<std::string> problem_;
  std::string address_;
  std::unique_ptr<Running> running_;
};

}  // namespace harena::live
