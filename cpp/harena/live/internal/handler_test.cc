// What is answered to what, without a socket.
#include "harena/live/internal/handler.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/live/test_server.h"
#include "harena/mem/budget.h"
#include "harena/pb/admin/change_listener.h"

namespace harena::live::internal {
namespace {

using ::testing::HasSubstr;

class HandlerTest : public ::testing::Test {
 protected:
  HttpAnswer Ask(std::string_view method, std::string_view path, std::string_view body = {},
                 std::string_view after_ms = {}) {
    return handler_.Answer({.method = method,
                            .path = path,
                            .after_ms = after_ms,
                            .body = body,
                            .caller = {.host = "127.0.0.1:9090",
                                       .authorization = authorization_,
                                       .content_type = "application/json",
                                       .on_this_machine = true}});
  }
  Json Status() { return Json::parse(Ask("GET", "/harena/api/status").body); }
  Json Method(const std::string& name) {
    const Json status = Status();
    for (const Json& method : status["methods"]) {
      if (method["name"] == name) return method;
    }
    return {};
  }
  HttpAnswer Set(const Json& body) { return Ask("POST", "/harena/api/settings", body.dump()); }
  HttpAnswer Undo(int64_t id) { return Ask("POST", "/harena/api/undo", Json{{"id", id}}.dump()); }

  const std::string authorization_ = std::string("Bearer ") + kTestToken;
  TestServer server_;
  Handler handler_{Guard(kTestToken, {})};
};

TEST_F(HandlerTest, StatusCountsWhatScopesDo) {
  {
    Scope scope = server_.rank().scopes().Acquire();
    server_.rank().CountRequest();
    EXPECT_EQ(Method("/test.Live/Rank")["scopes"]["live"], 1);
  }
  const Json rank = Method("/test.Live/Rank");
  EXPECT_EQ(rank["requests"], 1);
  EXPECT_EQ(rank["scopes"]["live"], 0);
  EXPECT_EQ(rank["scopes"]["ended"], 1);
  EXPECT_EQ(rank["framework"], "test");
  EXPECT_EQ(rank["bytes"]["histogram"].size(), BytesHistogram::kBuckets);
  EXPECT_EQ(rank["bytes"]["histogram"][0]["count"], 1);  // it used nothing
  EXPECT_EQ(rank["bytes"]["histogram"].back()["le"], Json());
  EXPECT_EQ(rank["settings"]["request_bytes_max"], Json());
  EXPECT_EQ(rank["modes"], Json({"heap", "arena", "pages", "codec"}));
  EXPECT_EQ(Method("/test.Live/Board")["requests"], 0);
}

TEST_F(HandlerTest, AChangeHoldsForTheNextRequestAndCanBeUndone) {
  const HttpAnswer answer =
      Set({{"method", "/test.Live/Rank"},
           {"settings", {{"request_bytes_max", 1 << 20}, {"depth_max", 100}}}});
  ASSERT_EQ(answer.status, 200u) << answer.body;
  const Json made = Json::parse(answer.body)["changes"];
  ASSERT_EQ(made.size(), 2u) << made;
  EXPECT_EQ(made[0]["setting"], "depth_max");
  EXPECT_EQ(made[0]["from"], "none");
  EXPECT_EQ(made[0]["to"], "100");
  EXPECT_EQ(made[1]["to"], "1048576");
  EXPECT_EQ(made[1]["who"], "page");
  EXPECT_EQ(server_.rank().scopes().options().request_bytes_max, size_t{1} << 20);
  EXPECT_EQ(server_.rank().scopes().options().depth_max, 100);
  EXPECT_EQ(server_.board().scopes().options().depth_max, 0);

  EXPECT_EQ(Undo(made[1]["id"]).status, 200u);
  EXPECT_EQ(server_.rank().scopes().options().request_bytes_max, kUnlimitedBytes);
  EXPECT_EQ(server_.rank().scopes().options().depth_max, 100);
  const Json listed = Status()["changes"];
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[1]["undone"], true);
  EXPECT_EQ(listed[2]["to"], "none");
  const HttpAnswer again = Undo(made[1]["id"]);
  EXPECT_EQ(again.status, 400u);
  EXPECT_THAT(again.body, HasSubstr("undone already"));
  EXPECT_THAT(Undo(4711).body, HasSubstr("no change 4711"));
}

TEST_F(HandlerTest, UndoIsRefusedWhenTheSettingHasChangedSince) {
  const HttpAnswer answer = Set({{"method", "/test.Live/Rank"}, {"settings", {{"mode", "pages"}}}});
  const Json made = Json::parse(answer.body)["changes"];
  ASSERT_EQ(server_.methods().SetMode("/test.Live/Rank", Mode::kArena), std::nullopt);
  const HttpAnswer undo = Undo(made[0]["id"]);
  EXPECT_EQ(undo.status, 400u);
  EXPECT_THAT(undo.body, HasSubstr("mode is arena by now and not pages"));
  EXPECT_EQ(server_.rank().scopes().mode(), Mode::kArena);
}

TEST_F(HandlerTest, ChangesOfOthersAreNoticed) {
  ASSERT_EQ(server_.methods().SetMode("/test.Live/Board", Mode::kPages), std::nullopt);
  handler_.Tick();
  const Json listed = Status()["changes"];
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["who"], "api");
  EXPECT_EQ(listed[0]["method"], "/test.Live/Board");
  EXPECT_EQ(listed[0]["from"], "codec");
  EXPECT_EQ(listed[0]["to"], "pages");
}

TEST_F(HandlerTest, ChangesInANameBearIt) {
  ASSERT_EQ(server_.methods().SetMode("/test.Live/Board", Mode::kPages), std::nullopt);
  pb::ChangeAs("config", [&] {
    ASSERT_EQ(server_.methods().SetMode("/test.Live/Board", Mode::kArena), std::nullopt);
  });
  ASSERT_EQ(server_.methods().SetMode("/test.Live/Board", Mode::kHeap), std::nullopt);
  handler_.Tick();
  const Json listed = Status()["changes"];
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0]["who"], "api");
  EXPECT_EQ(listed[0]["to"], "pages");
  EXPECT_EQ(listed[1]["who"], "config");
  EXPECT_EQ(listed[1]["from"], "pages");
  EXPECT_EQ(listed[1]["to"], "arena");
  EXPECT_EQ(listed[2]["who"], "api");
  EXPECT_EQ(listed[2]["to"], "heap");
  EXPECT_EQ(Undo(listed[2]["id"]).status, 200u);
}

TEST_F(HandlerTest, SettingsOfAllMethodsOfTheProcessAndOfAPagePool) {
  const PagePoolRetention retention = PagePool::Default().retention();
  const HttpAnswer answer = Set({{"method", ""},
                                 {"settings",
                                  {{"decoded_ratio_max", 200},
                                   {"process_bytes_max", size_t{1} << 40},
                                   {"retained_bytes_max", 1 << 20},
                                   {"decay_after_ms", 500}}}});
  ASSERT_EQ(answer.status, 200u) << answer.body;
  EXPECT_EQ(server_.rank().scopes().options().decoded_ratio_max, 200);
  EXPECT_EQ(server_.board().scopes().options().decoded_ratio_max, 200);
  EXPECT_EQ(ProcessBudget().bytes_max(), size_t{1} << 40);
  EXPECT_EQ(PagePool::Default().retention().retained_bytes_max, size_t{1} << 20);
  const Json made = Json::parse(answer.body)["changes"];
  EXPECT_EQ(made.size(), 5u) << made;
  for (const Json& change : made) EXPECT_EQ(Undo(change["id"]).status, 200u) << change;
  EXPECT_EQ(ProcessBudget().bytes_max(), kUnlimitedBytes);
  EXPECT_EQ(PagePool::Default().retention().retained_bytes_max, retention.retained_bytes_max);
  EXPECT_EQ(PagePool::Default().retention().decay_after, retention.decay_after);
}

TEST_F(HandlerTest, PagePoolsOfMethodsAreListedAndChangedByName) {
  PagePoolOptions small;
  small.retained_bytes_max = 4 << 20;
  PagePool pool(small);
  TestServer other("other", {.page_pool = &pool});
  const Json pools = Status()["pools"];
  const std::string name = "pool " + std::to_string(pool.index());
  const auto listed = std::find_if(pools.begin(), pools.end(),
                                   [&](const Json& one) { return one["name"] == name; });
  ASSERT_NE(listed, pools.end()) << pools;
  EXPECT_EQ((*listed)["retained_bytes_max"], 4 << 20);
  const Json body = {{"method", ""}, {"pool", name}, {"settings", {{"retained_bytes_max", 0}}}};
  const HttpAnswer answer = Set(body);
  ASSERT_EQ(answer.status, 200u) << answer.body;
  EXPECT_EQ(pool.retention().retained_bytes_max, 0u);
  EXPECT_EQ(Json::parse(answer.body)["changes"][0]["pool"], name);
  EXPECT_THAT(Set({{"pool", "pool 63"}, {"settings", {{"decay_after_ms", 1}}}}).body,
              HasSubstr("no method of this process uses"));
}

TEST_F(HandlerTest, WhatIsWrongIsSaidAndNothingChanges) {
  ASSERT_EQ(server_.methods().SetRequestBytesMax("/test.Live/Board", 1 << 20), std::nullopt);
  const auto decay_after = PagePool::Default().retention().decay_after;
  const std::pair<const char*, const char*> cases[] = {
      {R"({"method": "/x", "settings": {"mode": "pages"}})", "there are /test.Live/Board"},
      {R"({"settings": {"colour": 1}})", "decoded_ratio_max"},
      {R"({"settings": {"quarantine_one_in": 1}})", "while the server runs"},
      {R"({"method": "/test.Live/Rank", "settings": {"process_bytes_max": 1}})", "whole process"},
      {R"({"method": "/test.Live/Rank", "settings": {"decay_after_ms": 1}})", "whole process"},
      {R"({"settings": {"mode": "magic"}})", "want"},
      {R"({"settings": {"mode": 1}})", "want"},
      {R"({"settings": {"request_bytes_max": 0}})", "1 or more"},
      {R"({"settings": {"request_bytes_max": 1}})", "request_bytes_max"},
      {R"({"settings": {"request_bytes_max": -1}})", "1 or more"},
      {R"({"settings": {"request_bytes_max": 1.5}})", "whole number"},
      {R"({"settings": {"request_bytes_max": 1e300}})", "whole number"},
      {R"({"settings": {"request_bytes_max": "64MiB"}})", "whole number"},
      {R"({"settings": {"decoded_ratio_max": 0.5}})", "1 or more"},
      {R"({"settings": {"decoded_floor_bytes": null}})", "1 or more"},
      {R"({"settings": {"depth_max": 4294967296}})", "from 1 to 100"},
      {R"({"settings": {"depth_max": 101}})", "from 1 to 100"},
      {R"({"settings": {"decay_after_ms": -1}})", "0 or more"},
      {R"({"settings": {"mode": "heap"}})", "heap"},
      {R"({"pool": "pool 63", "settings": {"depth_max": 9, "decay_after_ms": 1}})", "pool 63"},
      {R"({"settings": {"mode": "heap", "decay_after_ms": 1}})", "heap"},
      {R"({"method": "/x"})", "nothing to change"},
      {R"(mode=heap)", "no JSON object"},
      {R"([])", "no JSON object"},
      {R"({"metod": "/x"})", "metod"},
      {R"({"method": 1, "settings": {"depth_max": 1}})", "method and pool are text"},
      {R"({"settings": {"depth_max": 1}} {})", "no JSON object"},
      {"{\"settings\": {\"\xff\": 1}}", "no JSON object"},
  };
  for (const auto& [body, reason] : cases) {
    const HttpAnswer answer = Ask("POST", "/harena/api/settings", body);
    EXPECT_EQ(answer.status, 400u) << body << ": " << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(reason)) << body;
  }
  EXPECT_EQ(server_.rank().scopes().options().mode, Mode::kCodec);
  EXPECT_EQ(server_.rank().scopes().options().depth_max, 0);
  EXPECT_EQ(PagePool::Default().retention().decay_after, decay_after);
  // The test's own, made beside the page.
  const Json listed = Status()["changes"];
  EXPECT_EQ(listed.size(), 1u) << listed;
}

TEST_F(HandlerTest, DeepNestingIsNoWayToTheEndOfTheStack) {
  const std::string deep(30'000, '[');
  const std::string back(30'000, ']');
  for (const std::string& body :
       {deep, deep + back, R"({"settings": {"mode": )" + deep + back + "}}",
        R"({"settings": )" + deep + back + "}", R"({"method": )" + deep + back + "}"}) {
    EXPECT_EQ(Ask("POST", "/harena/api/settings", body).status, 400u) << body.substr(0, 30);
    EXPECT_EQ(Ask("POST", "/harena/api/undo", body).status, 400u) << body.substr(0, 30);
  }
}

TEST_F(HandlerTest, TwoServersChangeTogetherOrNotAtAll) {
  TestServer limited("limited", {.request_bytes_max = 1 << 20});
  const Json heap = {{"method", "/test.Live/Rank"}, {"settings", {{"mode", "heap"}}}};
  EXPECT_EQ(Set(heap).status, 400u);
  EXPECT_EQ(server_.rank().scopes().mode(), Mode::kCodec);
  ASSERT_EQ(limited.methods().SetRequestBytesMax(kUnlimitedBytes), std::nullopt);
  EXPECT_EQ(Set(heap).status, 200u);
  EXPECT_EQ(server_.rank().scopes().mode(), Mode::kHeap);
  EXPECT_EQ(limited.rank().scopes().mode(), Mode::kHeap);
}

TEST_F(HandlerTest, TimelineHasRatesAndForgetsTheOldest) {
  for (int i = 0; i < 10; ++i) server_.rank().CountRequest();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  handler_.Tick();
  Json samples = Json::parse(Ask("GET", "/harena/api/timeline").body)["samples"];
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0]["requests_per_s"], 0);
  EXPECT_GT(samples[1]["requests_per_s"].get<double>(), 5);
  EXPECT_LE(samples[1]["requests_per_s"].get<double>(), 500);
  const std::string first = samples[0]["at_ms"].dump();
  EXPECT_EQ(Json::parse(Ask("GET", "/harena/api/timeline", {}, first).body)["samples"].size(), 1u);
  EXPECT_EQ(Ask("GET", "/harena/api/timeline", {}, "x").status, 400u);
  for (size_t i = 0; i < Timeline::kSamplesMax; ++i) handler_.Tick();
  samples = Json::parse(Ask("GET", "/harena/api/timeline").body)["samples"];
  EXPECT_EQ(samples.size(), Timeline::kSamplesMax);
}

TEST_F(HandlerTest, RoutesAndWhatIsNone) {
  EXPECT_EQ(Ask("GET", "/").location, "/harena");
  EXPECT_THAT(std::string(Ask("GET", "/harena").page), HasSubstr("<!doctype html>"));
  EXPECT_EQ(Ask("GET", "/harena/app.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(std::string(Ask("GET", "/harena/vendor/uPlot.LICENSE.txt").page), HasSubstr("MIT"));
  for (const char* path :
       {"/other", "/harena/", "/harena/nothing.js", "/harena/vendor", "/harena/vendor/README.md",
        "/harena/../x", "/harena/api/", "/harenax"}) {
    EXPECT_EQ(Ask("GET", path).status, 404u) << path;
  }
  EXPECT_EQ(Ask("POST", "/harena").allow, "GET");
  EXPECT_EQ(Ask("POST", "/harena/api/status").status, 405u);
  EXPECT_EQ(Ask("GET", "/harena/api/settings").allow, "POST");
  EXPECT_EQ(Ask("OPTIONS", "/harena/api/settings").status, 405u);
}

}  // namespace
}  // namespace harena::live::internal
