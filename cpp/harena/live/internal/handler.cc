#include "harena/live/internal/handler.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "harena/live/internal/page_files.h"

namespace harena::live::internal {
namespace {

constexpr std::string_view kRoot = "/harena";

HttpAnswer Refused(HttpRefusal refusal) {
  return Refuse(refusal.status, std::move(refusal.reason));
}

HttpAnswer NotAllowed(std::string_view allow) {
  HttpAnswer answer = Refuse(405, "only " + std::string(allow) + " is answered here");
  answer.allow = allow;
  return answer;
}

HttpAnswer Ok(const Json& json) {
  // Names of methods are the program's own; one that is no UTF-8 is shown as far as it can be.
  return {.body = json.dump(-1, ' ', true, Json::error_handler_t::replace)};
}

// By the end of the name; empty for what is not shown.
std::string_view ContentTypeOf(std::string_view name) noexcept {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".txt")) return "text/plain; charset=utf-8";
  return {};
}

HttpAnswer Page(std::string_view name) {
  const auto files = PageFiles();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [name](const PageFile& file) { return file.name == name; });
  const std::string_view type = ContentTypeOf(name);
  if (found == files.end() || type.empty()) {
    return Refuse(404, "there is no such page; the page is /harena");
  }
  return {.content_type = type, .page = found->content};
}

/// Reads the members of a request's body, none but `names`; or says what is wrong.
Problem ParseBody(std::string_view body, std::initializer_list<std::string_view> names,
                  Json& json) {
  // What is nested deeper is nothing that is wanted, and nlohmann-json copies by recursion.
  constexpr int kDepthMax = 3;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; };
  json = Json::parse(body, shallow, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return "the body is not what is wanted: no JSON object";
  }
  for (const auto& [name, value] : json.items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return "the body is not what is wanted: unknown field \"" + name + "\"";
    }
  }
  return std::nullopt;
}

std::optional<std::string> TextIn(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return std::string();
  if (!found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

ChangeLog::Outcome MakeChange(ChangeLog& log, std::string_view body) {
  Json json;
  if (Problem problem = ParseBody(body, {"method", "pool", "settings"}, json)) {
    return {.problem = std::move(problem)};
  }
  auto method = TextIn(json, "method");
  auto pool = TextIn(json, "pool");
  const Json settings = json.value("settings", Json::object());
  if (!method || !pool || !settings.is_object()) {
    return {.problem =
                "the body is not what is wanted: method and pool are text, settings an "
                "object"};
  }
  Wanted wanted{.method = std::move(*method), .pool = std::move(*pool)};
  for (const auto& [name, value] : settings.items()) wanted.values[name] = value;
  return log.Set(wanted);
}

ChangeLog::Outcome UndoChange(ChangeLog& log, std::string_view body) {
  Json json;
  if (Problem problem = ParseBody(body, {"id"}, json)) return {.problem = std::move(problem)};
  if (!json.contains("id") || !json["id"].is_number_unsigned()) {
    return {.problem = "the body is not what is wanted: id is a number"};
  }
  return log.Undo(json["id"].get<int64_t>());
}

}  // namespace

HttpAnswer Refuse(unsigned status, std::string reason) {
  return {.status = status,
          .body = Json{{"error", std::move(reason)}}.dump(-1, ' ', true,
                                                          Json::error_handler_t::replace)};
}

HttpAnswer Handler::Answer(const HttpRequest& request) {
  if (auto refusal = guard_.CheckHost(request.caller)) return Refused(std::move(*refusal));
  constexpr std::string_view kApi = "/harena/api/";
  if (request.path.starts_with(kApi)) return AnswerApi(request.path.substr(kApi.size()), request);
  if (request.method != "GET") return NotAllowed("GET");
  if (request.path == "/") return {.status = 302, .location = kRoot};
  if (request.path == kRoot) return Page("index.html");
  if (!request.path.starts_with("/harena/")) return Page({});
  return Page(request.path.substr(kRoot.size() + 1));
}

HttpAnswer Handler::AnswerApi(std::string_view name, const HttpRequest& request) {
  const bool reads = name == "status" || name == "timeline";
  if (!reads && name != "settings" && name != "undo") return Page({});
  if (reads && request.method != "GET") return NotAllowed("GET");
  if (!reads && request.method != "POST") return NotAllowed("POST");
  if (auto refusal = reads ? guard_.CheckRead(request.caller) : guard_.CheckWrite(request.caller)) {
    return Refused(std::move(*refusal));
  }
  if (name == "status") return Status();
  return name == "timeline" ? Samples(request) : Change(name, request);
}

HttpAnswer Handler::Status() const {
  Json status = StatusNow();
  status["writable"] = guard_.writable();
  status["changes"] = log_.All();
  return Ok(status);
}

HttpAnswer Handler::Samples(const HttpRequest& request) const {
  int64_t after = 0;
  if (!request.after_ms.empty()) {
    const char* end = request.after_ms.data() + request.after_ms.size();
    const auto [read, error] = std::from_chars(request.after_ms.data(), end, after);
    if (read != end || error != std::errc()) {
      return Refuse(400, "after_ms is not a number of milliseconds since 1970");
    }
  }
  return Ok(timeline_.Since(after));
}

HttpAnswer Handler::Change(std::string_view name, const HttpRequest& request) {
  if (request.body_too_large) {
    return Refuse(413, "the body has more than " + std::to_string(kBufferBytesMax) + " bytes");
  }
  auto outcome = name == "undo" ? UndoChange(log_, request.body) : MakeChange(log_, request.body);
  if (outcome.problem) return Refuse(400, std::move(*outcome.problem));
  return Ok({{"changes", std::move(outcome.changes)}});
}

}  // namespace harena::live::internal
