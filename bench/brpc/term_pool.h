#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harena::bench {

/// One workload of the brpc measurements: requests in wire bytes, each to be answered by its equal.
struct TermPool {
  std::string name;
  /// Messages, in turn. Empty strings are empty messages.
  std::vector<std::string> requests;
  /// Whether the bytes go as attachment of an empty message instead.
  bool as_attachment = false;
};

/// `terms`: EchoRequests. `terms_attached`: the same bytes received and sent, and no message made
/// of them: what brpc costs with them. `empty`: empty requests: what brpc costs at least.
std::vector<std::string> TermPoolNames();

/// The named pool, the same in every process. Throws std::invalid_argument for an unknown name.
///
/// 100 trees with 0 to 99 groups, each number once, in random order. Uniform and independent
/// otherwise: a group makes 0 to 9 times {a list, a term of its own}, a list has 0 to 99 terms, a
/// term 0 to 19 random bytes. On average 130 kB of wire, 225 lists and 11,300 terms.
TermPool MakeTermPool(std::string_view name);

}  // namespace harena::bench
