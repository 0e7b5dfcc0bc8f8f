// A bound on what tRPC's decompressors make of a body.
#pragma once

#include <cstddef>

namespace harena::trpc {

/// Makes tRPC's own decompressors (gzip, zlib, both of snappy, lz4) stop where a body would become
/// longer than `bytes_max` bytes, for all servers and clients of the process. Without it a body
/// that `max_packet_size` lets in may become a thousand times as large, and takes that much memory
/// before any limit of Harena's sees it. Compression stays as it is, and so do compressors of other
/// makes.
///
///   int Initialize() override {
///     harena::trpc::BoundDecompression(64 << 20);
///     RegisterService(...);
///
/// Methods of a Services answer as for their other limits (23), and count the request in
/// `refused_by.request_bytes_max`; others answer tRPC's code for a body that cannot be decompressed
/// (1), and a client's call fails with its own (122). Beside the bytes, lz4 keeps two blocks of its
/// frame's size, 4 MiB each at most, snappy 64 KiB, and the others their window of 32 KiB.
///
/// Called once more, the new bound holds. A bound of nothing, and a call before tRPC has registered
/// its compressors (that is before Initialize()), stop the process and say so.
/// Thread rule: from one thread, before the first request: tRPC reads its compressors without a
/// lock.
void BoundDecompression(size_t bytes_max);

}  // namespace harena::trpc
