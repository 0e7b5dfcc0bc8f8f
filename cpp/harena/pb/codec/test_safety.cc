#include "harena/pb/codec/test_safety.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <random>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

constexpr size_t kSequenceBytesMax = size_t{64} << 10;

template <typename T>
void Parse(T& message, const std::string& wire, int block_bytes) {
  google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()),
                                               block_bytes);
  ASSERT_TRUE(message.ParseFromZeroCopyStream(&input));
}

// Two scopes and an arena of another kind, and what lives on them.
class Places {
 public:
  ~Places() {
    two_.reset();
    one_.reset();
    // Whoever comes next writes over what has ended.
    for (int i = 0; i < 2; ++i) {
      Scope next({.page_pool = &pool_, .mode = Mode::kCodec});
      for (const Length length : kLengths) {
        auto* message = next.CreateMessage<Whole>();
        Fill(*message, "another request's", length);
        AppendEverywhere(*message, std::string(100, 'Z'));
      }
    }
    EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
  }

  template <typename T>
  T* Make(Origin origin, const std::string& name, Length length) {
    T source;
    Fill(source, name, length);
    T* message = nullptr;
    switch (origin) {
      case Origin::kSetters:
        message = one_->CreateMessage<T>();
        Fill(*message, name, length);
        return message;
      case Origin::kParsed:
        message = one_->CreateMessage<T>();
        EXPECT_TRUE(message->ParseFromString(BytesOf(source)));
        return message;
      case Origin::kStream:
        message = one_->CreateMessage<T>();
        Parse(*message, BytesOf(source), 7);
        return message;
      case Origin::kHeap:
        message = new T(source);
        heap_.emplace_back(message);
        return message;
      case Origin::kOtherScope:
        message = two_->CreateMessage<T>();
        Parse(*message, BytesOf(source), -1);
        return message;
      case Origin::kOtherArena:
        message = CreateOn<T>(arena_);
        Fill(*message, name, length);
        return message;
    }
    return message;
  }

 private:
  PagePool pool_{TestOptions()};
  google::protobuf::Arena arena_;
  std::optional<Scope> one_{std::in_place, ScopeOptions{.page_pool = &pool_, .mode = Mode::kCodec}};
  std::optional<Scope> two_{std::in_place, ScopeOptions{.page_pool = &pool_, .mode = Mode::kCodec}};
  std::vector<std::unique_ptr<Message>> heap_;
};

void ExpectSame(const Message& message, const Message& twin, const char* which) {
  EXPECT_EQ(BytesOf(message), BytesOf(twin)) << which;
  EXPECT_EQ(message.ByteSizeLong(), twin.ByteSizeLong()) << which;
  EXPECT_TRUE(MessageDifferencer::Equals(message, twin)) << which << "\n"
                                                         << message.DebugString() << "\ntwin:\n"
                                                         << twin.DebugString();
  // By protobuf's own serializer too.
  const std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  EXPECT_EQ(BytesOf(*copy), BytesOf(twin)) << which;
}

void ExpectSame(const Kept& kept, const Kept& twin) {
  ASSERT_EQ(kept.strings.size(), twin.strings.size());
  for (size_t i = 0; i < kept.strings.size(); ++i) {
    EXPECT_EQ(*kept.strings[i], *twin.strings[i]);
    kept.strings[i]->append(5000, '+');
  }
  ASSERT_EQ(kept.messages.size(), twin.messages.size());
  for (size_t i = 0; i < kept.messages.size(); ++i) {
    ExpectSame(*kept.messages[i], *twin.messages[i], "a message that was kept");
    AppendEverywhere(*kept.messages[i], std::string(40, '+'));
  }
}

template <typename T>
void CheckOnce(const Row<T>& row, Origin origin_a, Origin origin_b, Length length) {
  Kept kept, kept_twin;
  {
    Places places;
    T& a = *places.template Make<T>(origin_a, "a", length);
    T& b = *places.template Make<T>(origin_b, "b", length);
    T twin_a, twin_b;
    Fill(twin_a, "a", length);
    Fill(twin_b, "b", length);
    row.apply(a, b, kept);
    row.apply(twin_a, twin_b, kept_twin);
    ExpectSame(a, twin_a, "a");
    ExpectSame(b, twin_b, "b");
    // Whatever it has left behind is as good as new.
    for (T* message : {&a, &b, &twin_a, &twin_b}) {
      AppendEverywhere(*message, std::string(50, '.'));
    }
    ExpectSame(a, twin_a, "a, lengthened");
    ExpectSame(b, twin_b, "b, lengthened");
    a.Clear();
    Fill(a, "again", Length::kMiddle);
    T again;
    Fill(again, "again", Length::kMiddle);
    ExpectSame(a, again, "a, cleared and filled");
  }
  ExpectSame(kept, kept_twin);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Origin origin) {
  constexpr const char* kNames[] = {"setters", "parsed",      "stream",
                                    "heap",    "other scope", "other arena"};
  return out << kNames[static_cast<int>(origin)];
}

std::string BytesOf(const Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    EXPECT_TRUE(message.SerializePartialToCodedStream(&coded));
  }
  return bytes;
}

template <typename T>
void CheckRow(const Row<T>& row) {
  for (const Origin origin_a :
       {Origin::kSetters, Origin::kParsed, Origin::kStream, Origin::kHeap, Origin::kOtherScope}) {
    for (const Origin origin_b : {Origin::kSetters, Origin::kParsed, Origin::kHeap,
                                  Origin::kOtherScope, Origin::kOtherArena}) {
      for (const Length length : kLengths) {
        SCOPED_TRACE(::testing::Message() << row.name << ", a: " << origin_a << ", b: " << origin_b
                                          << ", length " << static_cast<int>(length));
        CheckOnce(row, origin_a, origin_b, length);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}
template void CheckRow<Whole>(const Row<Whole>&);
template void CheckRow<Whole2>(const Row<Whole2>&);

template <typename T>
void CheckSequence(const std::vector<Row<T>>& rows, uint32_t seed, int count) {
  std::mt19937 random(seed);
  Kept kept, kept_twin;
  {
    Places places;
    const auto origin_a = static_cast<Origin>(random() % 3);
    const auto origin_b = static_cast<Origin>(random() % 6);
    if (getenv("DBG")) fprintf(stderr, "SEED %u %d %d\n", seed, (int)origin_a, (int)origin_b);
    const Length length = kLengths[random() % 3];
    T& a = *places.template Make<T>(origin_a, "a", length);
    T& b = *places.template Make<T>(origin_b, "b", length);
    T twin_a, twin_b;
    Fill(twin_a, "a", length);
    Fill(twin_b, "b", length);
    std::string done;
    for (int i = 0; i < count; ++i) {
      const Row<T>& row = rows[random() % rows.size()];
      const bool swapped = random() % 2 == 0;
      done += std::string(" ") + row.name + (swapped ? "(b, a)" : "(a, b)");
      row.apply(swapped ? b : a, swapped ? a : b, kept);
      row.apply(swapped ? twin_b : twin_a, swapped ? twin_a : twin_b, kept_twin);
      if (i % 8 == 0) {
        ExpectSame(a, twin_a, "a");
        ExpectSame(b, twin_b, "b");
        if (::testing::Test::HasFailure()) {
          ADD_FAILURE() << "seed " << seed << ", a: " << origin_a << ", b: " << origin_b << ","
                        << done;
          return;
        }
      }
      // Merging doubles.
      if (twin_a.ByteSizeLong() + twin_b.ByteSizeLong() > kSequenceBytesMax) {
        for (T* message : {&a, &twin_a, &b, &twin_b}) message->Clear();
        Fill(b, "anew", length);
        Fill(twin_b, "anew", length);
      }
    }
    ExpectSame(a, twin_a, "a");
    ExpectSame(b, twin_b, "b");
  }
  ExpectSame(kept, kept_twin);
}
template void CheckSequence<Whole>(const std::vector<Row<Whole>>&, uint32_t, int);
template void CheckSequence<Whole2>(const std::vector<Row<Whole2>>&, uint32_t, int);

void RunApart(const std::function<void()>& body) {
#if HARENA_ASAN
  body();
#else
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0) << "fork failed";
  if (child == 0) {
    int code = 0;
    try {
      body();
    } catch (const std::exception& exception) {
      std::fprintf(stdout, "threw: %s\n", exception.what());
      code = 2;
    }
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
#endif
}

}  // namespace harena::pb::codec
