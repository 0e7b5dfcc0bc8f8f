#pragma once

#include <cstddef>

namespace harena::pb::codec {

/// Bytes that the calling thread has asked of operator new and not given back, which is how
/// protobuf and std::string take all of theirs. Programs that link test_heap_bytes.cc only. Where
/// other threads give back, below zero.
ptrdiff_t HeapBytes() noexcept;

/// The most that HeapBytes() was since the last ForgetHeapPeak().
ptrdiff_t HeapBytesPeak() noexcept;
void ForgetHeapPeak() noexcept;

}  // namespace harena::pb::codec
