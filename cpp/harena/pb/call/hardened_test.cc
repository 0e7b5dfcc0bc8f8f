// Requests on a hardened pool: nothing of them is left on its pages, and nothing is taken for a
// mistake that is none.
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "harena/base/compiler.h"
#include "harena/base/poison.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/codec/registered.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "tests/safety_count.h"

namespace harena::pb {
namespace {

using harena::test::Shapes;

// Short enough to lie in a std::string itself; the codec has long ones on the scope too.
constexpr std::string_view kShort = "pw-0123456789";
const std::string kLong = "a token of a few hundred bytes: " + std::string(300, '#');

PagePoolOptions HardenedOptions() {
  PagePoolOptions options = TestOptions();
  options.guard_pages = options.wipe_on_release = options.check_free_lists = true;
  return options;
}
PagePoolOptions WipingOptions(bool wipe) {
  PagePoolOptions options = TestOptions();
  options.wipe_on_release = wipe;
  return options;
}

// In the 2 MiB around `address`, free or not.
bool IsFound(std::string_view secret, const void* address) {
  char* const region = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & -2 * kMiB);
  Unpoison(region, 2 * kMiB);
  return memmem(region, 2 * kMiB, secret.data(), secret.size()) != nullptr;
}

std::string SecretWire() {
  Shapes request;
  request.mutable_leaf()->set_name(std::string(kShort));
  for (int i = 0; i < 50; ++i) request.add_leaves()->set_name(kLong);
  return request.SerializeAsString();
}

// Whether mode codec has the strings on the pages; else they are protobuf's, on the heap.
bool CodecKeepsStrings() { return Capabilities().arena_strings; }

class Wiping : public testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, Wiping, testing::Values(Mode::kPages, Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

// protobuf's blocks, the codec's strings, and what the handler made.
TEST_P(Wiping, LeavesNothingOfARequest) {
  const bool on_pages = GetParam() == Mode::kCodec && CodecKeepsStrings();
  constexpr std::string_view kMade = "what the handler made of it";
  const std::string wire = SecretWire();
  for (const bool wipe : {false, true}) {
    PagePool pool(WipingOptions(wipe));
    ScopePool scopes({.mode = GetParam(), .quarantine_one_in = 0, .page_pool = &pool});
    const void* on_page = nullptr;
    {
      Scope scope = scopes.Acquire();
      const auto request = ParseFrozen<Shapes>(scope, wire);
      ASSERT_TRUE(request);
      on_page = request.message;
      ASSERT_EQ(PagePool::OwnerOf(on_page), &pool);
      std::memcpy(scope.arena().Allocate(kMade.size()), kMade.data(), kMade.size());
      ASSERT_TRUE(IsFound(kShort, on_page));
      ASSERT_TRUE(IsFound(kMade, on_page));
      ASSERT_EQ(IsFound(kLong, on_page), on_pages);
    }
    EXPECT_EQ(IsFound(kShort, on_page), !wipe);
    EXPECT_EQ(IsFound(kMade, on_page), !wipe);
    EXPECT_EQ(IsFound(kLong, on_page), !wipe && on_pages);
  }
}

// What is written of a response, and the buffers of the strings that its handler set.
TEST(Wiping, LeavesNothingOfAResponseOfModeCodec) {
  if (!CodecKeepsStrings()) GTEST_SKIP() << "protobuf's own strings, which go back to the heap";
  for (const bool wipe : {false, true}) {
    PagePool pool(WipingOptions(wipe));
    ScopePool scopes({.mode = Mode::kCodec, .quarantine_one_in = 0, .page_pool = &pool});
    const void* on_page = nullptr;
    const char* buffer = nullptr;
    {
      Scope scope = scopes.Acquire();
      auto* const response = scope.CreateMessage<Shapes>();
      response->mutable_leaf()->set_name(kLong);
      on_page = response;
      buffer = response->leaf().name().data();
      ASSERT_GT(response->SerializeAsString().size(), kLong.size());
      static_cast<void>(response->ByteSizeLong());  // and not written
    }
    EXPECT_EQ(IsFound(kLong, on_page), !wipe);
    // The block that the default pool's cache got last.
    PagePool& others = PagePool::Default();
    const Block block = others.TryAllocate(others.options().page_bytes);
    ASSERT_TRUE(block);
    EXPECT_EQ(memmem(block.data, block.bytes, kLong.data(), kLong.size()), nullptr);
    others.Free(block.data, block.bytes);
    // The buffer waits for the next string.
    Unpoison(buffer, kLong.size());
    const std::string_view end(buffer + kLong.size() / 2, kLong.size() / 2);
    EXPECT_EQ(end == std::string_view(kLong).substr(kLong.size() / 2, end.size()), !wipe);
    TrimStringBuffers();
  }
}

// What mode `reuse` keeps is not released, so not wiped: only when it is dropped.
TEST(Wiping, LeavesWhatModeReuseKeeps) {
  PagePool pool(WipingOptions(true));
  ScopePool scopes({.mode = Mode::kReuse, .quarantine_one_in = 0, .page_pool = &pool});
  const void* on_page = nullptr;
  {
    MessageKeeper keeper(Shapes::default_instance(), Shapes::default_instance(), scopes.options());
    {
      Scope scope = scopes.Acquire();
      auto* const request = static_cast<Shapes*>(keeper.Take(scope).request);
      request->mutable_leaf()->set_name(std::string(kShort));
      on_page = request;
    }
    // Clear() makes the string empty: its first byte is gone, no more.
    EXPECT_TRUE(IsFound(kShort.substr(1), on_page));
  }
  EXPECT_FALSE(IsFound(kShort.substr(1), on_page));
}

class HardenedScopes : public testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, HardenedScopes,
                         testing::Values(Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                         Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_P(HardenedScopes, ServeLikeOthers) {
  PagePool pool(HardenedOptions());
  ScopePool scopes({.mode = GetParam(), .quarantine_one_in = 10, .page_pool = &pool});
  MessageKeeper keeper(Shapes::default_instance(), Shapes::default_instance(), scopes.options());
  Worker worker;
  for (int i = 0; i < 200; ++i) {
    Shapes plain;
    plain.mutable_leaf()->set_name("request " + std::to_string(i));
    for (int k = 0; k < 40 * (i % 20); ++k) plain.add_leaves()->set_name(kLong);
    const std::string wire = plain.SerializeAsString();
    DetachedScope detached;
    {
      Scope scope = scopes.Acquire();
      *scope.Create<uint64_t>() = 1;
      if (GetParam() == Mode::kReuse) {
        auto* const request = keeper.Take(scope).request;
        ASSERT_TRUE(request->ParseFromString(wire));
        ASSERT_EQ(request->SerializeAsString(), wire);
      } else if (GetParam() != Mode::kHeap) {
        const auto request = ParseFrozen<Shapes>(scope, wire);
        ASSERT_TRUE(request);
        ASSERT_EQ(request.message->SerializeAsString(), wire);
      }
      if (i % 7 == 0) detached = scope.Detach();
    }
    worker.Run([&] { detached.Reset(); });
    if (i % 50 == 0) {
      test_now_ms += 5000;
      pool.Decay();
    }
  }
  EXPECT_EQ(scopes.stats().scopes_ended, 200u);
  EXPECT_EQ(scopes.stats().scopes_refused, 0u);
}

class HardenedScopesDeathTest : public testing::Test {
 protected:
  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }
  Shapes* ServeAndEnd() {
    Scope scope = scopes_.Acquire();
    return scope.CreateMessage<Shapes>();
  }

  PagePool pool_{HardenedOptions()};
  ScopePool scopes_{{.mode = Mode::kPages, .quarantine_one_in = 0, .page_pool = &pool_}};
};

// Every scope, not only sampled ones: but when the page is handed out next, not where it happens.
TEST_F(HardenedScopesDeathTest, AWriteToAMessageAfterItsScopeStopsTheNextRequest) {
  Shapes* const stale = ServeAndEnd();
  EXPECT_DEATH(
      {
        *reinterpret_cast<volatile char*>(stale) = 0x5e;
        const Scope next = scopes_.Acquire();
      },
      HARENA_ASAN ? "AddressSanitizer" : "somebody wrote to a free block");
}

TEST_F(HardenedScopesDeathTest, AScopeReleasedTwiceStops) {
  EXPECT_DEATH(
      {
        {
          Scope scope = scopes_.Acquire();
          alignas(Scope) char copy[sizeof(Scope)];
          std::memcpy(copy, static_cast<const void*>(&scope), sizeof(copy));
          std::destroy_at(reinterpret_cast<Scope*>(copy));
        }
        const Scope next = scopes_.Acquire();
      },
      HARENA_ASAN ? "AddressSanitizer"
                  : "somebody wrote to a free block|released after its end|given back twice");
}

TEST_F(HardenedScopesDeathTest, AnOverflowOutOfTheScopesBlockFaults) {
  Scope scope = scopes_.Acquire();
  char* const data = static_cast<char*>(scope.arena().Allocate(100));
  EXPECT_DEATH(std::memset(data, 1, 70'000), HARENA_ASAN ? "AddressSanitizer" : "");
}

}  // namespace
}  // namespace harena::pb
