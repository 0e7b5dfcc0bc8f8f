// Messages that are used after the request they belonged to: each such use must stop the process,
// under AddressSanitizer in every scope, otherwise in the sampled ones.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "harena/base/compiler.h"
#include "harena/base/log.h"
#include "harena/guard/fault_reporter.h"
#include "harena/guard/quarantine.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/admin/start_check.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "tests/safety_count.h"

namespace harena::pb {
namespace {

using harena::test::Shapes;

constexpr char kMethod[] = "/feed.Feed/Rank";

// ASan sees what is poisoned; a page in quarantine faults before ASan's shadow is asked only where
// the code that touches it was not built with it (protobuf's library).
std::string Report([[maybe_unused]] const char* access) {
#if HARENA_ASAN
  return "AddressSanitizer|FAULT";
#else
  return std::string("FAULT: ") + access + " after the end of a scope.*of /feed.Feed/Rank";
#endif
}

struct Way {
  Mode mode;
  size_t one_in;
};
std::string NameOf(const testing::TestParamInfo<Way>& info) {
  return std::string(ToString(info.param.mode)) + (info.param.one_in == 1 ? "Sampled" : "");
}

class DanglingDeathTest : public testing::TestWithParam<Way> {
 protected:
  DanglingDeathTest()
      : scopes_(
            {.mode = GetParam().mode, .quarantine_one_in = GetParam().one_in, .page_pool = &pool_},
            MessagesMayThrow::kYes, kMethod),
        keeper_(Shapes::default_instance(), Shapes::default_instance(), scopes_.options()) {}

  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }

  // One request, as an adapter serves it.
  Shapes* Serve(Scope& scope, const std::string& name) {
    auto* message = GetParam().mode == Mode::kReuse
                        ? static_cast<Shapes*>(keeper_.Take(scope).request)
                        : scope.CreateMessage<Shapes>();
    message->mutable_leaf()->set_name(name);
    return message;
  }
  Shapes* ServeAndEnd(const std::string& name) {
    Scope scope = scopes_.Acquire();
    return Serve(scope, name);
  }

  PagePool pool_{TestOptions()};
  ScopePool scopes_;
  MessageKeeper keeper_;
};
INSTANTIATE_TEST_SUITE_P(Modes, DanglingDeathTest,
#if HARENA_ASAN
                         testing::Values(Way{Mode::kPages, 0}, Way{Mode::kCodec, 0},
                                         Way{Mode::kPages, 1}, Way{Mode::kCodec, 1},
                                         Way{Mode::kReuse, 1}),
#else
                         testing::Values(Way{Mode::kPages, 1}, Way{Mode::kCodec, 1},
                                         Way{Mode::kReuse, 1}),
#endif
                         NameOf);

TEST_P(DanglingDeathTest, ReadAfterTheEndOfItsScope) {
  const Shapes* const stale = ServeAndEnd("first");
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        static_cast<void>(*reinterpret_cast<const volatile char*>(stale));
      },
      Report("read"));
}

TEST_P(DanglingDeathTest, WriteAfterTheEndOfItsScope) {
  Shapes* const stale = ServeAndEnd("first");
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        *reinterpret_cast<volatile char*>(stale) = 1;
      },
      Report("write"));
}

// Where the pages are recycled, the next request has them, and no sanitizer sees a difference.
class SampledDeathTest : public DanglingDeathTest {};
INSTANTIATE_TEST_SUITE_P(Modes, SampledDeathTest,
                         testing::Values(Way{Mode::kPages, 1}, Way{Mode::kCodec, 1},
                                         Way{Mode::kReuse, 1}),
                         NameOf);

// Recycled memory would show the next request's strings here.
TEST_P(SampledDeathTest, AMessageOfOneRequestIsNotSeenByTheNext) {
  const Shapes* const stale = ServeAndEnd("the first tenant");
  Scope next = scopes_.Acquire();
  const Shapes* const message = Serve(next, "the next tenant");
  ASSERT_NE(message, stale);
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        std::puts(stale->leaf().name().c_str());
      },
      Report("read"));
  EXPECT_EQ(message->leaf().name(), "the next tenant");
}

TEST_P(DanglingDeathTest, ReadAfterTheDetachedScopeWasReset) {
  const Shapes* stale = nullptr;
  DetachedScope detached;
  {
    Scope scope = scopes_.Acquire();
    stale = Serve(scope, "kept");
    detached = scope.Detach();
  }
  EXPECT_EQ(stale->leaf().name(), "kept");
  detached.Reset();
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        static_cast<void>(*reinterpret_cast<const volatile char*>(stale));
      },
      Report("read"));
}

// The handler that keeps a message, and detaches too late or lets go of it too early: two owners of
// which one reads on.
TEST_P(DanglingDeathTest, WriteAfterTheLastOfTwoDetachedScopesWasReset) {
  Shapes* stale = nullptr;
  DetachedScope first;
  DetachedScope second;
  {
    Scope scope = scopes_.Acquire();
    stale = Serve(scope, "kept");
    first = scope.Detach();
    second = scope.Detach();
  }
  first.Reset();
  stale->mutable_leaf()->set_name("still there");
  second.Reset();
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        *reinterpret_cast<volatile char*>(stale) = 1;
      },
      Report("write"));
}

// A handle that was copied as bytes, as a memcpy of the struct around it does: the scope ends
// twice.
TEST_P(DanglingDeathTest, AScopeReleasedTwice) {
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        Scope scope = scopes_.Acquire();
        alignas(Scope) char copy[sizeof(Scope)];
        std::memcpy(copy, static_cast<const void*>(&scope), sizeof(copy));
        std::destroy_at(reinterpret_cast<Scope*>(copy));
      },
      HARENA_ASAN ? "AddressSanitizer|FAULT"
                  : "FAULT: [a-z]* after the end of a scope.*scope 1 of");
}

// What a sampled request is given, and gives back, is nobody else's.
TEST(SampledReuse, InstancesAreNeitherTakenFromOthersNorKept) {
  PagePool pool(TestOptions());
  ScopePool scopes({.mode = Mode::kReuse, .quarantine_one_in = 3, .page_pool = &pool},
                   MessagesMayThrow::kYes, kMethod);
  MessageKeeper keeper(Shapes::default_instance(), Shapes::default_instance(), scopes.options());
  const auto serve = [&](bool sampled) {
    Scope scope = scopes.Acquire();
    EXPECT_EQ(scope.sampled(), sampled);
    return keeper.Take(scope).request;
  };
  const auto* const kept = serve(false);
  EXPECT_EQ(serve(false), kept);
  const auto* const sampled = serve(true);
  EXPECT_NE(sampled, kept);
  EXPECT_EQ(ExplainAddress(sampled).kind, FaultyAddress::Kind::kEnded);
  EXPECT_EQ(keeper.stats().instances_idle, 1u);
  EXPECT_EQ(keeper.stats().instances_built, 2u);
  EXPECT_EQ(keeper.stats().instances_dropped, 1u);
  Scope scope = scopes.Acquire();
  if (!scope.sampled()) {
    EXPECT_EQ(keeper.Take(scope).request, kept);
  }
}

std::vector<std::string>& Said() {
  static std::vector<std::string> said;
  return said;
}

TEST(SelfCheck, OncePerProcessForAdapters) {
  SetLogSink([](Severity, std::string_view sentence) { Said().emplace_back(sentence); });
  PagePool pool(TestOptions());
  EXPECT_TRUE(SelfCheckOnce({.page_pool = &pool}));
  EXPECT_FALSE(SelfCheckOnce({.page_pool = &pool}));
  SetLogSink(nullptr);
  ASSERT_EQ(Said().size(), 1u);
  EXPECT_EQ(Said()[0].rfind("self-check: ", 0), 0u) << Said()[0];
}

TEST(SelfCheck, SaysWhatIsHardened) {
  PagePoolOptions options = PagePoolOptions::Hardened();
  options.budget = nullptr;
  PagePool pool(options);
  const SelfCheckReport report = SelfCheck({.quarantine_one_in = 0, .page_pool = &pool});
  EXPECT_TRUE(report.ok()) << report.ToText();
  EXPECT_NE(report.ToText().find("guard pages + wiped on release + free lists checked, no scope "),
            std::string::npos)
      << report.ToText();
}

TEST(SelfCheck, SaysInOneLineWhatIsOn) {
  PagePool pool(TestOptions());
  const SelfCheckReport report = SelfCheck({.quarantine_one_in = 1234, .page_pool = &pool});
  EXPECT_TRUE(report.ok()) << report.ToText();
  const std::string text = report.ToText();
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (const char* part : {"self-check: ", "quarantine works", "1 in 1234 scopes", "codec "}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace harena::pb
