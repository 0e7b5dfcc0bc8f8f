#include "harena/pb/capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "harena/base/check.h"
#include "harena/base/log.h"

namespace harena::pb {
namespace {

using google::protobuf::io::CodedOutputStream;

// Tags of harena.replay.v1.Record.
constexpr uint32_t kMethod = 1 << 3 | 2;
constexpr uint32_t kRequest = 2 << 3 | 2;
constexpr uint32_t kResponse = 3 << 3 | 2;
constexpr uint32_t kTime = 4 << 3;

size_t BytesField(std::string_view value) {
  return 1 + CodedOutputStream::VarintSize64(value.size()) + value.size();
}

void WriteBytes(CodedOutputStream& out, uint32_t tag, const std::string& value) {
  out.WriteTag(tag);
  out.WriteVarint64(value.size());
  out.WriteString(value);
}

// Held for a few instructions by those who have it: who meets one of them tries again for about a
// microsecond, and does not wait for one that was put to sleep.
std::unique_lock<std::mutex> TryLock(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int tries = 0; !lock && tries < 16; ++tries) {
    std::this_thread::yield();
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

size_t BytesOf(const CapturedCall& call) {
  return call.request.size() + (call.response ? call.response->size() : 0);
}

}  // namespace

std::string CaptureRecord(const CapturedCall& call) {
  const auto time = static_cast<uint64_t>(call.time_unix_ms);
  const size_t size = BytesField(call.method) + BytesField(call.request) +
                      (call.response ? BytesField(*call.response) : 0) + 1 +
                      CodedOutputStream::VarintSize64(time);
  std::string record;
  google::protobuf::io::StringOutputStream stream(&record);
  CodedOutputStream out(&stream);
  out.WriteVarint64(size);
  WriteBytes(out, kMethod, call.method);
  WriteBytes(out, kRequest, call.request);
  if (call.response) WriteBytes(out, kResponse, *call.response);
  out.WriteTag(kTime);
  out.WriteVarint64(time);
  out.Trim();
  return record;
}

std::optional<std::string> CaptureOptions::Validate() const {
  if (one_in == 0) return "one_in is 0: 1 captures every call, 1000 one of a thousand";
  struct stat found = {};
  if (stat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    return "directory \"" + directory + "\" is none: make it first, for this process's user alone";
  }
  if (access(directory.c_str(), W_OK) != 0) {
    return "directory \"" + directory + "\" cannot be written by this process: change its owner";
  }
  return std::nullopt;
}

Capture::Capture(CaptureOptions options) : options_(std::move(options)) {
  if (const auto wrong = options_.Validate()) {
    FailCheck("harena::pb::Capture", 0, "CaptureOptions", wrong->c_str());
  }
  Log(Severity::kWarning, "capturing one of " + std::to_string(options_.one_in) +
                              " calls, with all that callers send, into " + options_.directory);
  thread_ = std::thread([this] { Run(); });
}

Capture::~Capture() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  Close();
}

bool Capture::Wants() noexcept {
  return seen_.fetch_add(1, std::memory_order_relaxed) % options_.one_in == 0;
}

void Capture::Offer(const CapturedCall& call) noexcept {
  if (BytesOf(call) > options_.call_bytes_max) return Drop();
  try {
    std::string record = CaptureRecord(call);
    {
      const std::unique_lock lock = TryLock(mutex_);
      if (!lock || queued_bytes_ + record.size() > options_.queue_bytes_max) return Drop();
      queued_bytes_ += record.size();
      queue_.push_back(std::move(record));
    }
    wake_.notify_one();
  } catch (const std::exception&) {
    Drop();  // no memory: the call itself is not to suffer
  }
}

CaptureStats Capture::stats() const noexcept {
  return {.calls_written = written_.load(std::memory_order_relaxed),
          .bytes_written = bytes_written_.load(std::memory_order_relaxed),
          .calls_dropped = dropped_.load(std::memory_order_relaxed),
          .ended = ended_.load(std::memory_order_relaxed)};
}

void Capture::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::string record = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (Write(record)) {
      bytes_written_.fetch_add(record.size(), std::memory_order_relaxed);
      written_.fetch_add(1, std::memory_order_relaxed);
    } else {
      Drop();
    }
    lock.lock();
    queued_bytes_ -= record.size();
  }
}

bool Capture::Write(std::string_view record) {
  if (ended_.load(std::memory_order_relaxed)) return false;
  if (bytes_written_.load(std::memory_order_relaxed) + record.size() > options_.bytes_max) {
    End("bytes_max is " + std::to_string(options_.bytes_max) + ", and the next call is more");
    return false;
  }
  if (file_ >= 0 && file_bytes_ + record.size() > options_.file_bytes_max) Close();
  if (file_ < 0 && !OpenNext()) return false;
  while (!record.empty()) {
    const ssize_t taken = write(file_, record.data(), record.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) {
      // What follows half a record could not be read anyway.
      End(strerror(errno));
      return false;
    }
    record.remove_prefix(static_cast<size_t>(taken));
    file_bytes_ += static_cast<size_t>(taken);
  }
  return true;
}

bool Capture::OpenNext() {
  using std::chrono::milliseconds;
  static std::atomic<int> files{0};  // the process's: several may write to one directory
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string path = options_.directory + "/" +
                           std::to_string(std::chrono::duration_cast<milliseconds>(now).count()) +
                           "-" + std::to_string(getpid()) + "-" + std::to_string(++files) +
                           ".harena-capture";
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) {
    End(path + ": " + strerror(errno));
    return false;
  }
  file_bytes_ = 0;
  return true;
}

void Capture::End(const std::string& why) {
  Log(Severity::kWarning, "capturing into " + options_.directory + " has ended: " + why);
  ended_.store(true, std::memory_order_relaxed);
  Close();
}

void Capture::Close() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

}  // namespace harena::pb
