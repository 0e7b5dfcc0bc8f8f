#include "harena/pb/arena/string_buffers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/pb/codec/test_heap_count.h"

namespace harena::pb {
namespace {

using codec::HeapBalance;
using codec::HeapBytes;
using codec::HeapCount;

// A place for a string, as a store has it: no destructor of its own.
struct Place {
  alignas(std::string) std::byte bytes[sizeof(std::string)];
  std::string& Make(std::string_view text) { return *MakeString(bytes, text); }
};

class StringBuffers : public ::testing::Test {
 protected:
  void SetUp() override { TrimStringBuffers(); }
  void TearDown() override { TrimStringBuffers(); }
};

TEST_F(StringBuffers, EveryLengthIsAnOrdinaryString) {
  for (size_t length = 0; length <= 2 * kBufferBytesMax; length += length < 300 ? 1 : 61) {
    std::string text(length, '\0');
    for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i * 7 + length);
    Place place;
    std::string& string = place.Make(text);
    ASSERT_EQ(string, text);
    ASSERT_EQ(string.c_str()[length], '\0');
    ASSERT_GE(string.capacity(), length);
    ASSERT_LE(string.capacity() + 1, length < 32 ? 48 : 2 * (length + 1)) << length;
    string.append(100, 'x');  // may move to another buffer
    ASSERT_EQ(string, text + std::string(100, 'x'));
    EndString(string);
    EXPECT_TRUE(string.empty());
  }
}

TEST_F(StringBuffers, ABodyComesBackForTheNextString) {
  Place first;
  std::string& string = first.Make("a text that is as long as the other");
  const char* const data = string.data();
  EndString(string);
  Place second;
  std::string& next = second.Make("and one of the same class of buffers");
  EXPECT_EQ(next.data(), data);
  EndString(next);
}

TEST_F(StringBuffers, SteadyStateTakesNothingFromTheHeap) {
  std::vector<Place> places(2000);
  size_t taken = 0;
  for (int round = 0; round < 4; ++round) {
    const HeapCount heap;
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t length = (i * 37) % 700;
      char text[700];
      std::fill_n(text, length, 'a');
      places[i].Make(std::string_view(text, length));
    }
    for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
    taken = heap.taken();
  }
  EXPECT_EQ(taken, 0u);
}

TEST_F(StringBuffers, AllIsGivenBackByTrim) {
  std::vector<Place> places(500);
  const ptrdiff_t before = HeapBalance();
  for (Place& place : places) place.Make(std::string(300, 'x'));
  EXPECT_GE(HeapBalance() - before, 500);
  for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
  EXPECT_GE(GetStringBufferStats().bytes_thread, 500u * 300);
  TrimStringBuffers();
  EXPECT_EQ(GetStringBufferStats().bytes_thread, 0u);
  EXPECT_EQ(GetStringBufferStats().bytes_shared, 0u);
  EXPECT_EQ(HeapBalance(), before);
}

TEST_F(StringBuffers, StringsOfTheUsersOwnEndWithoutLeak) {
  // Capacities that no class has, from growth, from reserve, and after shrinking.
  const ptrdiff_t before = HeapBalance();
  {
    std::vector<Place> places(300);
    for (size_t i = 0; i < places.size(); ++i) {
      auto* string = ::new (places[i].bytes) std::string(i, 'x');
      if (i % 3 == 1) string->reserve(i * 5);
      if (i % 3 == 2) string->append(i, 'y').shrink_to_fit();
    }
    for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
  }
  TrimStringBuffers();
  EXPECT_EQ(HeapBalance(), before);
}

TEST_F(StringBuffers, ABodyThatAUserTookMayBeDeletedByHim) {
  Place place;
  std::string taken = std::move(place.Make("a text that needs a buffer of its own"));
  EndString(*reinterpret_cast<std::string*>(place.bytes));
  taken.append(5000, 'x');
  EXPECT_EQ(taken.substr(0, 6), "a text");
}

TEST_F(StringBuffers, BodiesGoFromThreadToThread) {
  std::vector<Place> places(1000);
  for (Place& place : places) place.Make(std::string(200, 'x'));
  std::thread([&] {
    for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
  }).join();
  // The other thread has ended and left them to all.
  EXPECT_GE(GetStringBufferStats().bytes_shared, 1000u * 200);
  for (Place& place : places) place.Make(std::string(200, 'y'));
  EXPECT_EQ(GetStringBufferStats().bytes_shared, 0u);
  for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
}

TEST_F(StringBuffers, OneThreadKeepsNoMoreThanItsBound) {
  std::vector<Place> places(kThreadBuffersBytesMax / 256 * 3);
  for (Place& place : places) place.Make(std::string(250, 'x'));
  for (Place& place : places) {
    EndString(*reinterpret_cast<std::string*>(place.bytes));
    ASSERT_LE(GetStringBufferStats().bytes_thread, kThreadBuffersBytesMax);
  }
  EXPECT_GT(GetStringBufferStats().bytes_shared, kThreadBuffersBytesMax / 2);
}

TEST_F(StringBuffers, TheSharedListKeepsNoMoreThanItsBound) {
  std::vector<Place> places((kSharedBuffersBytesMax + 4 * kThreadBuffersBytesMax) / 4096);
  for (Place& place : places) place.Make(std::string(4000, 'x'));
  for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
  EXPECT_LE(GetStringBufferStats().bytes_shared, kSharedBuffersBytesMax);
  EXPECT_GE(GetStringBufferStats().bytes_shared, kSharedBuffersBytesMax / 2);
}

// What lists them counts too: buffers of 32 bytes are where it would weigh most.
TEST_F(StringBuffers, TheBoundsHoldAllThatIsKept) {
  std::vector<Place> places(4 * kThreadBuffersBytesMax / 32);
  const ptrdiff_t before_bytes = HeapBytes();
  for (Place& place : places) place.Make(std::string(20, 'x'));
  for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
  const StringBufferStats stats = GetStringBufferStats();
  EXPECT_EQ(HeapBytes() - before_bytes,
            static_cast<ptrdiff_t>(stats.bytes_thread + stats.bytes_shared));
  EXPECT_LE(stats.bytes_thread, 512u * 1024);
}

TEST_F(StringBuffers, DecayGivesBackWhatLayUnused) {
  const auto use = [](size_t bytes) {
    std::vector<Place> places(bytes / 256);
    const std::string text(250, 'x');
    for (Place& place : places) place.Make(text);
    for (Place& place : places) EndString(*reinterpret_cast<std::string*>(place.bytes));
  };
  use(8 * kThreadBuffersBytesMax);
  const size_t burst_bytes = GetStringBufferStats().bytes_shared;
  EXPECT_GE(burst_bytes, 7 * kThreadBuffersBytesMax);
  DecayStringBuffers();  // all of them were used since whenever
  EXPECT_EQ(GetStringBufferStats().bytes_shared, burst_bytes);
  use(3 * kThreadBuffersBytesMax);  // two of them from the shared list
  DecayStringBuffers();
  EXPECT_LE(GetStringBufferStats().bytes_shared, 3 * kThreadBuffersBytesMax);
  EXPECT_GE(GetStringBufferStats().bytes_shared, 2 * kThreadBuffersBytesMax);
  const HeapCount heap;
  use(3 * kThreadBuffersBytesMax - kBufferBytesMax * 8);
  EXPECT_LE(heap.taken(), 100u);  // what is in use is kept
  DecayStringBuffers();
  DecayStringBuffers();
  EXPECT_EQ(GetStringBufferStats().bytes_shared, 0u);
}

// Ends strings when the thread's own buffers have ended already, and before.
struct EndsLate {
  ~EndsLate() {
    EndString(place.Make("a text that is made when the thread is ending"));
    if (early) EndString(*reinterpret_cast<std::string*>(early->bytes));
  }
  Place place;
  std::optional<Place> early;
};

TEST_F(StringBuffers, WorkWhileTheirThreadIsEnding) {
  const ptrdiff_t before = HeapBalance();
  std::thread([] {
    thread_local EndsLate late;  // made before the buffers, so it ends after them
    late.early.emplace();
    late.early->Make("a text that is made while the thread runs");
  }).join();
  std::thread([] {
    Place place;
    EndString(place.Make("a text that makes this thread's buffers"));
    thread_local EndsLate early;
    static_cast<void>(&early);
  }).join();
  TrimStringBuffers();
  EXPECT_LE(HeapBalance() - before, 20);  // the threads' own objects
}

TEST_F(StringBuffers, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 50; ++round) {
        std::vector<Place> places(200);
        for (Place& place : places)
          place.Make(std::string(20 + t * 100, static_cast<char>('a' + t)));
        for (Place& place : places) {
          auto& string = *reinterpret_cast<std::string*>(place.bytes);
          ASSERT_EQ(string.find_first_not_of(static_cast<char>('a' + t)), std::string::npos);
          EndString(string);
        }
        if (round % 10 == t) TrimStringBuffers();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace harena::pb
