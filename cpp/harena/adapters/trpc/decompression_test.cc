// Bodies that become more than they may, of every algorithm that tRPC has.
#include "harena/adapters/trpc/decompression.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <trpc/compressor/compressor_factory.h>
#include <trpc/compressor/gzip/gzip_compressor.h>

#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/test_rig.h"
#include "harena/base/compiler.h"
#include "harena/base/test_process_memory.h"
#include "harena/mem/page_pool.h"

namespace harena::trpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::trpc::compressor::CompressorFactory;
using ::trpc::compressor::CompressType;

constexpr size_t kBytesMax = size_t{1} << 20;

struct Algorithm {
  const char* name;
  CompressType type;
};
constexpr Algorithm kAlgorithms[] = {{"gzip", ::trpc::compressor::kGzip},
                                     {"zlib", ::trpc::compressor::kZlib},
                                     {"snappy", ::trpc::compressor::kSnappy},
                                     {"snappy_block", ::trpc::compressor::kSnappyBlock},
                                     {"lz4", ::trpc::compressor::kLz4Frame}};

// `bytes` of 'x', most of it the same block again and again, so that little memory is left behind
// that a decompression could take unseen.
NoncontiguousBuffer Many(size_t bytes) {
  static const NoncontiguousBuffer& block =
      *new NoncontiguousBuffer(::trpc::CreateBufferSlow(std::string(64 << 10, 'x')));
  NoncontiguousBuffer all;
  while (all.ByteSize() + block.ByteSize() <= bytes) all.Append(NoncontiguousBuffer(block));
  if (all.ByteSize() < bytes) {
    all.Append(::trpc::CreateBufferSlow(std::string(bytes - all.ByteSize(), 'x')));
  }
  return all;
}

NoncontiguousBuffer Compressed(CompressType type, NoncontiguousBuffer bytes) {
  EXPECT_TRUE(::trpc::compressor::CompressIfNeeded(type, bytes));
  return bytes;
}

// By how much the process's memory grew at most while `work` ran.
template <typename Work>
size_t BytesTakenBy(Work work) {
  EXPECT_TRUE(ForgetPeak());
  const size_t before = StatusBytes("VmRSS");
  work();
  const size_t peak = StatusBytes("VmHWM");
  return peak - std::min(peak, before);
}

class Decompression : public TrpcTest, public ::testing::WithParamInterface<Algorithm> {
 protected:
  void SetUp() override { ::trpc::compressor::Init(); }
  static CompressType type() { return GetParam().type; }
};
INSTANTIATE_TEST_SUITE_P(Algorithms, Decompression, ::testing::ValuesIn(kAlgorithms),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Decompression, EndsAtTheBound) {
  BoundDecompression(kBytesMax);
  for (const size_t bytes : {size_t{1}, size_t{1000}, size_t{4096}, kBytesMax - 1, kBytesMax,
                             kBytesMax + 1, 2 * kBytesMax}) {
    NoncontiguousBuffer body = Compressed(type(), Many(bytes));
    const bool fits = bytes <= kBytesMax;
    EXPECT_EQ(::trpc::compressor::DecompressIfNeeded(type(), body), fits) << bytes;
    if (fits) {
      EXPECT_TRUE(::trpc::FlattenSlow(body) == std::string(bytes, 'x')) << bytes;
    }
  }
}

TEST_P(Decompression, ContentsComeThroughAsTheyWere) {
  BoundDecompression(kBytesMax);
  std::string text;
  for (int i = 0; text.size() < kBytesMax / 2; ++i) text += std::to_string(i * 7919) + ", ";
  NoncontiguousBuffer body = Compressed(type(), ::trpc::CreateBufferSlow(text));
  ASSERT_TRUE(::trpc::compressor::DecompressIfNeeded(type(), body));
  EXPECT_TRUE(::trpc::FlattenSlow(body) == text);
}

size_t BytesTakenByDecompressing(CompressType type, const NoncontiguousBuffer& body, bool fits) {
  return BytesTakenBy([&] {
    NoncontiguousBuffer out;
    EXPECT_EQ(::trpc::compressor::Decompress(type, body, out), fits);
  });
}

TEST_P(Decompression, TakesNoMoreMemoryThanTheBound) {
#if HARENA_ASAN
  GTEST_SKIP() << "a sanitizer's own memory hides tRPC's";
#endif
  if (!ForgetPeak()) GTEST_SKIP() << "this kernel does not reset VmHWM";
  constexpr size_t kBombBytes = size_t{256} << 20;
  // lz4's two blocks of 256 KiB, as tRPC makes them, and what the system rounds up.
  constexpr size_t kBesideBytes = size_t{8} << 20;
  const NoncontiguousBuffer bomb = Compressed(type(), Many(kBombBytes));
  // Without the bound it is seen to take what it becomes: in another process, as tRPC keeps memory.
  EXPECT_EXIT(
      {
        ::trpc::compressor::Init();
        const size_t taken = BytesTakenByDecompressing(type(), bomb, true);
        std::cerr << "took " << taken << " bytes, as expected: " << !HasFailure() << '\n';
        _exit(taken >= kBombBytes / 2 && !HasFailure() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  BoundDecompression(kBytesMax);
  EXPECT_LE(BytesTakenByDecompressing(type(), bomb, false), kBytesMax + kBesideBytes);
}

TEST_P(Decompression, RefusesWhatIsNoneOfIt) {
  BoundDecompression(kBytesMax);
  NoncontiguousBuffer garbage = ::trpc::CreateBufferSlow("\xff\xff\xff\xff\xff nothing of it");
  EXPECT_FALSE(::trpc::compressor::DecompressIfNeeded(type(), garbage));
  NoncontiguousBuffer empty;
  EXPECT_FALSE(::trpc::compressor::DecompressIfNeeded(type(), empty));
  const std::string whole = ::trpc::FlattenSlow(Compressed(type(), Many(100'000)));
  for (size_t end = 1; end < whole.size(); end += 1 + whole.size() / 40) {
    NoncontiguousBuffer cut = ::trpc::CreateBufferSlow(whole.substr(0, end));
    EXPECT_FALSE(::trpc::compressor::DecompressIfNeeded(type(), cut)) << end;
  }
}

// In pieces of every size, as they come from sockets.
TEST_P(Decompression, TakesBodiesInPieces) {
  BoundDecompression(kBytesMax);
  const std::string whole = ::trpc::FlattenSlow(Compressed(type(), Many(kBytesMax)));
  for (const size_t piece_bytes : {1, 2, 3, 7, 100}) {
    NoncontiguousBuffer body;
    for (size_t at = 0; at < whole.size(); at += piece_bytes) {
      body.Append(::trpc::CreateBufferSlow(whole.substr(at, piece_bytes)));
    }
    ASSERT_TRUE(::trpc::compressor::DecompressIfNeeded(type(), body)) << piece_bytes;
    EXPECT_EQ(body.ByteSize(), kBytesMax);
  }
}

TEST_P(Decompression, ACallIsRefusedByNameAndCounted) {
  BoundDecompression(kBytesMax);
  PagePool pool;
  WorkService service;
  WorkService own;
  Services services({.defaults = {.page_pool = &pool}, .expose_vars = false});
  services.Serve(service, kRun, &WorkService::Run);
  const auto run = [&](WorkService& served, const Task& task) {
    OneCall call(served);
    call.context()->SetReqCompressType(type());
    call.Run(kRun, Compressed(type(), BytesOf(task)));
    return std::pair(call.code(), call.context()->GetStatus().ErrorMessage());
  };
  Task task;
  // The field's tag and length take four bytes.
  task.set_text(std::string(kBytesMax - 4, 'x'));
  ASSERT_EQ(task.ByteSizeLong(), kBytesMax);
  EXPECT_EQ(run(service, task).first, 0);
  EXPECT_EQ(services.stats().at(0).refused, 0u);
  task.mutable_text()->push_back('x');
  const auto [code, message] = run(service, task);
  EXPECT_EQ(code, ::trpc::TrpcRetCode::TRPC_SERVER_LIMITED_ERR);
  EXPECT_THAT(message, AllOf(HasSubstr(kRun), HasSubstr("BoundDecompression"),
                             HasSubstr("longer than 1048576 bytes")));
  EXPECT_EQ(services.stats().at(0).refused_by.request_bytes_max, 1u);
  EXPECT_EQ(services.stats().at(0).requests, 2u);
  EXPECT_EQ(services.stats().at(0).scopes.scopes_live(), 0u);
  // A method that is none of Harena's: tRPC's own answer.
  EXPECT_EQ(run(own, task).first, ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR);
}

class BoundDecompressionTest : public TrpcTest {
 protected:
  void SetUp() override { ::trpc::compressor::Init(); }
};

TEST_F(BoundDecompressionTest, OnceMoreSetsAnotherBound) {
  NoncontiguousBuffer body = Compressed(::trpc::compressor::kGzip, Many(11));
  BoundDecompression(10);
  EXPECT_FALSE(::trpc::compressor::DecompressIfNeeded(::trpc::compressor::kGzip, body));
  BoundDecompression(11);
  EXPECT_TRUE(::trpc::compressor::DecompressIfNeeded(::trpc::compressor::kGzip, body));
}

TEST_F(BoundDecompressionTest, LeavesCompressorsOfOtherMakes) {
  class Other final : public ::trpc::compressor::GzipCompressor {};
  const auto other = ::trpc::MakeRefCounted<Other>();
  CompressorFactory& factory = *CompressorFactory::GetInstance();
  ASSERT_TRUE(factory.Register(other));
  BoundDecompression(kBytesMax);
  EXPECT_EQ(factory.Get(::trpc::compressor::kGzip), other.get());
}

using BoundDecompressionDeathTest = BoundDecompressionTest;

TEST_F(BoundDecompressionDeathTest, SaysWhatIsWrong) {
  EXPECT_DEATH(BoundDecompression(0), "the bound must not be 0");
  CompressorFactory::GetInstance()->Clear();
  EXPECT_DEATH(BoundDecompression(kBytesMax), "call it in Initialize\\(\\)");
}

}  // namespace
}  // namespace harena::trpc
