// A libFuzzer target: what clients ask of the live page's handler, one request after the other,
// while a server has two methods. Whatever they ask, the answer is a known status with a page or
// JSON in it; what is refused changes no setting; who may not change anything does not; and the
// settings that are in force afterwards are some that a server may be started with. `make fuzz`
// runs it.
//
// An input is requests with a line "---" between them. The lines of one are the method, the path,
// after_ms, and the headers Host, Authorization and Content-Type; then "here", for a client of the
// same machine, or "here large" for a body that was cut off; what is left is the body. Lines that
// are missing are empty.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harena/base/log.h"
#include "harena/live/internal/handler.h"
#include "harena/live/internal/settings.h"
#include "harena/live/test_server.h"
#include "harena/mem/budget.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::live::internal {
namespace {

[[noreturn]] void Stop(std::string_view words, std::string_view what) {
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(words.size()), words.data(),
               static_cast<int>(what.size()), what.data());
  std::abort();
}

// What stands before the separator, which is taken off with it.
std::string_view TakeUntil(std::string_view separator, std::string_view& text) {
  const size_t at = text.find(separator);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + separator.size());
  return taken;
}

HttpRequest TakeRequest(std::string_view& input) {
  std::string_view text = TakeUntil("\n---\n", input);
  HttpRequest request;
  for (std::string_view* line :
       {&request.method, &request.path, &request.after_ms, &request.caller.host,
        &request.caller.authorization, &request.caller.content_type}) {
    *line = TakeUntil("\n", text);
  }
  const std::string_view flags = TakeUntil("\n", text);
  request.caller.on_this_machine = flags.starts_with("here");
  request.body_too_large = flags.ends_with("large");
  if (!request.body_too_large) request.body = text;
  return request;
}

void CheckAnswer(const HttpAnswer& answer) {
  constexpr unsigned kKnown[] = {200, 302, 400, 401, 403, 404, 405, 413, 415, 421};
  if (std::find(std::begin(kKnown), std::end(kKnown), answer.status) == std::end(kKnown)) {
    Stop("a status that is not in the list", std::to_string(answer.status));
  }
  if (answer.status == 302) return;
  if (!answer.page.empty()) {
    if (answer.status != 200 || !answer.body.empty()) Stop("a page that is none", answer.body);
    return;
  }
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) Stop("no JSON object", answer.body);
  const bool refused = answer.status != 200;
  if (refused != json.contains("error")) Stop("an error with a wrong status", answer.body);
  if (refused && json["error"].get<std::string>().empty()) Stop("no reason", answer.body);
}

void Ask(Handler& handler, const HttpRequest& request) {
  const auto before = ValuesNow();
  const HttpAnswer answer = handler.Answer(request);
  CheckAnswer(answer);
  const bool may_change = answer.status == 200 && request.method == "POST" &&
                          request.caller.authorization.find(kTestToken) != std::string_view::npos;
  if (!may_change && ValuesNow() != before) Stop("changed by what may not", answer.body);
}

void CheckOptions(const pb::Method& method) {
  if (const auto reason = method.scopes().options().Validate()) {
    Stop("options that cannot be", *reason);
  }
}

}  // namespace
}  // namespace harena::live::internal

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace harena::live::internal;
  harena::PagePool& pool = harena::PagePool::Default();
  static const harena::PagePoolRetention retention = pool.retention();
  // Modes that are served as others would be said of thousands of servers.
  harena::SetLogSink([](harena::Severity, std::string_view) {});
  {
    const harena::live::TestServer server;
    Handler handler{Guard(harena::live::kTestToken, {})};
    std::string_view input(reinterpret_cast<const char*>(data), size);
    // What is remembered of changes is bounded, but each request looks at every setting.
    for (int requests = 0; !input.empty() && requests < 16; ++requests) {
      Ask(handler, TakeRequest(input));
    }
    CheckOptions(server.rank());
    CheckOptions(server.board());
  }
  pool.SetRetention(retention);
  harena::ProcessBudget().set_bytes_max(harena::kUnlimitedBytes);
  return 0;
}
