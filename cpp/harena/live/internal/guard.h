// Who may ask for what.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harena::live::internal {

inline constexpr char kTokenVariable[] = "HARENA_LIVE_TOKEN";

/// What of a request the rules are about. It points into what the request owns.
struct Caller {
  std::string_view host;           ///< The Host header.
  std::string_view authorization;  ///< The Authorization header.
  std::string_view content_type;
  std::string_view origin = {};  ///< The Origin header: the site of the page that asks.
  std::string_view fetch_site =
      {};  ///< The Sec-Fetch-Site header: how that relates to this server.
  bool on_this_machine = false;
};

/// An answer that is no success.
struct HttpRefusal {
  unsigned status = 0;
  std::string reason;
};

/// Thread rule: any thread; it never changes.
class Guard {
 public:
  Guard(std::string token, std::vector<std::string> hosts)
      : token_(std::move(token)), hosts_(std::move(hosts)) {}

  bool writable() const noexcept { return !token_.empty(); }

  /// Refuses names that are not the server's. A page of another site that has its own name resolve
  /// to this server's address arrives with that name.
  std::optional<HttpRefusal> CheckHost(const Caller& caller) const;
  /// Refuses what other machines may not see.
  std::optional<HttpRefusal> CheckRead(const Caller& caller) const;
  /// Refuses changes by those who may not make them.
  std::optional<HttpRefusal> CheckWrite(const Caller& caller) const;

 private:
  bool CarriesToken(const Caller& caller) const noexcept;

  const std::string token_;
  const std::vector<std::string> hosts_;
};

/// What is wrong with a token that is not empty, and how to get a better one.
std::optional<std::string> WhyNoToken(std::string_view token);

bool IsLoopback(const sockaddr* address) noexcept;

}  // namespace harena::live::internal
