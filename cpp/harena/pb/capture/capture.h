// Writes sampled calls to files, for `harena replay`. Knows no framework: adapters hand it bytes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace harena::pb {

/// What is captured. A capture holds what callers sent and were answered, whole: passwords, names,
/// addresses. Turn it on where that may lie on this machine's disk, and remove the files.
struct CaptureOptions {
  /// Where the files go; it has to be there. Each is readable by this process's user alone.
  std::string directory = {};
  /// One call of so many, chosen by count. At least 1.
  uint32_t one_in = 1000;
  /// A call whose request and response have more bytes than this is dropped.
  size_t call_bytes_max = size_t{4} << 20;
  /// A file that has reached this is closed, and the next one is begun.
  size_t file_bytes_max = size_t{64} << 20;
  /// All files together. Then capturing ends, for as long as this object lives, and says so.
  size_t bytes_max = size_t{256} << 20;
  /// Bytes that wait for the disk. What comes when they are there already is dropped.
  size_t queue_bytes_max = size_t{16} << 20;

  /// What is wrong with them and what to do, or nullopt.
  std::optional<std::string> Validate() const;
};

/// Counts since the start.
struct CaptureStats {
  uint64_t calls_written = 0;
  uint64_t bytes_written = 0;
  uint64_t calls_dropped =
      0;               ///< Too large, the queue full or busy, bytes_max reached, disk error.
  bool ended = false;  ///< bytes_max was reached or the disk failed: no more is written.
};

/// One call as it was on the wire.
struct CapturedCall {
  std::string method = {};  ///< "/package.Service/Method"
  std::string request = {};
  std::optional<std::string> response = {};
  int64_t time_unix_ms = 0;
};

/// Appends calls to *.harena-capture files (proto/harena/replay/v1/record.proto) on a thread of its
/// own. No caller ever waits: not for the disk, nor for another caller.
/// Thread rule: any thread. Lifetime rule: outlives everybody who calls it; its destructor writes
/// what waits and ends the thread.
class Capture {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked).
  explicit Capture(CaptureOptions options);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Whether the call that begins now is to be captured. To be asked once per call.
  bool Wants() noexcept;
  /// Takes a call that was wanted, or drops and counts it. Never throws.
  void Offer(const CapturedCall& call) noexcept;
  /// Counts and forgets a call that was wanted and cannot be offered.
  void Drop() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

  size_t call_bytes_max() const noexcept { return options_.call_bytes_max; }
  CaptureStats stats() const noexcept;

 private:
  void Run();
  bool Write(std::string_view record);
  bool OpenNext();
  void End(const std::string& why);
  void Close();

  const CaptureOptions options_;
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> written_{0};
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> ended_{false};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> queue_;  // records, each after its length
  size_t queued_bytes_ = 0;
  bool ending_ = false;

  // The thread's own.
  int file_ = -1;
  size_t file_bytes_ = 0;

  std::thread thread_;  // last: it uses all of the above
};

/// The call as a record of a capture file: its length as a varint, and its bytes.
std::string CaptureRecord(const CapturedCall& call);

}  // namespace harena::pb
