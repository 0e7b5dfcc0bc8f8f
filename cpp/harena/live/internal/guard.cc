#include "harena/live/internal/guard.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace harena::live::internal {
namespace {

constexpr size_t kTokenBytesMin = 16;

bool EqualIgnoringCase(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

/// A Host header without its port. What stands there and is no number is left.
std::string_view WithoutPort(std::string_view host) {
  const size_t bracket = host.find(']');
  const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view name = host.substr(0, colon);
  const bool port = host.find_first_not_of("0123456789", name.size() + 1) == std::string_view::npos;
  return port ? name : host;
}

/// Whether a host is an address. One of IPv6 may have brackets, both of them.
bool IsAddress(std::string_view name) {
  unsigned char parsed[sizeof(in6_addr)];
  const auto is = [&](int family, std::string_view text) {
    return inet_pton(family, std::string(text).c_str(), parsed) == 1;
  };
  return is(AF_INET, name) || is(AF_INET6, name) ||
         (name.starts_with('[') && name.ends_with(']') &&
          is(AF_INET6, name.substr(1, name.size() - 2)));
}

/// Whether a page of another site asks, by what browsers say of that; the rule of Go's
/// http.CrossOriginProtection. Who is no browser says nothing.
bool IsFromAnotherSite(const Caller& caller) {
  if (!caller.fetch_site.empty()) {
    return caller.fetch_site != "same-origin" && caller.fetch_site != "none";
  }
  const size_t scheme_end = caller.origin.find("://");
  return !caller.origin.empty() && (scheme_end == std::string_view::npos ||
                                    caller.origin.substr(scheme_end + 3) != caller.host);
}

HttpRefusal TokenMissing() {
  return {.status = 401,
          .reason =
              "the token is missing or wrong; it goes into the header "
              "Authorization: Bearer TOKEN"};
}

}  // namespace

std::optional<HttpRefusal> Guard::CheckHost(const Caller& caller) const {
  const std::string_view name = WithoutPort(caller.host);
  const bool known = EqualIgnoringCase(name, "localhost") || IsAddress(name) ||
                     std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& own) {
                       return EqualIgnoringCase(own, name);
                     });
  if (known && !name.empty()) return std::nullopt;
  return HttpRefusal{.status = 421,
                     .reason =
                         "this server is not known by the name of the Host header; ask by "
                         "address or as localhost, or add the name to the listener's hosts"};
}

std::optional<HttpRefusal> Guard::CheckRead(const Caller& caller) const {
  if (caller.on_this_machine || CarriesToken(caller)) return std::nullopt;
  if (writable()) return TokenMissing();
  return HttpRefusal{.status = 403,
                     .reason = std::string("other machines are told nothing without a token: set "
                                           "one, in the listener's options or in ") +
                               kTokenVariable};
}

std::optional<HttpRefusal> Guard::CheckWrite(const Caller& caller) const {
  if (!writable()) {
    return HttpRefusal{.status = 403,
                       .reason = std::string("this page is read-only: to change settings, set a "
                                             "token, in the listener's options or in ") +
                                 kTokenVariable};
  }
  if (IsFromAnotherSite(caller)) {
    return HttpRefusal{.status = 403,
                       .reason =
                           "a page of another site asks for this change; only this server's own "
                           "page may"};
  }
  if (!CarriesToken(caller)) return TokenMissing();
  if (!caller.content_type.starts_with("application/json")) {
    return HttpRefusal{.status = 415, .reason = "the body must be application/json"};
  }
  return std::nullopt;
}

bool Guard::CarriesToken(const Caller& caller) const noexcept {
  constexpr std::string_view kBearer = "Bearer ";
  if (!writable() || !EqualIgnoringCase(caller.authorization.substr(0, kBearer.size()), kBearer)) {
    return false;
  }
  const std::string_view given = caller.authorization.substr(kBearer.size());
  // The time it takes tells what was given, and nothing of the token.
  size_t difference = given.size() ^ token_.size();
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i] ^ token_[i % token_.size()]);
  }
  return difference == 0;
}

std::optional<std::string> WhyNoToken(std::string_view token) {
  if (token.size() < kTokenBytesMin) {
    return "the token has " + std::to_string(token.size()) + " characters; want " +
           std::to_string(kTokenBytesMin) + " or more: `openssl rand -hex 16` makes one";
  }
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    return "the token has characters that a header cannot carry; want letters, digits and "
           "punctuation: `openssl rand -hex 16` makes one";
  }
  return std::nullopt;
}

bool IsLoopback(const sockaddr* address) noexcept {
  if (address == nullptr) return false;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    // An IPv4 address in IPv6's clothes, where one socket listens for both.
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[12] == 127);
  }
  return false;
}

}  // namespace harena::live::internal
