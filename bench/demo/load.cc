#include "bench/demo/load.h"

#include <algorithm>
#include <thread>

namespace harena::bench {
namespace {

constexpr std::chrono::seconds kCallDeadline{10};

std::string Flatten(const ::grpc::ByteBuffer& buffer) {
  std::vector<::grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const ::grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

struct Load::Call {
  ::grpc::ClientContext context;
  std::unique_ptr<::grpc::GenericClientAsyncResponseReader> reader;
  ::grpc::ByteBuffer reply;
  ::grpc::Status status;
  Clock::time_point due;
  size_t variant = 0;
};

Load::Load(std::shared_ptr<::grpc::Channel> channel, const Workload& workload)
    : stub_(std::move(channel)),
      workload_(workload),
      method_path_(workload.MethodPath()),
      last_replies_(workload.requests.size()) {
  for (const std::string& wire : workload.requests) {
    const ::grpc::Slice slice(wire);
    requests_.emplace_back(&slice, 1);
    expected_.push_back(ExpectedResponse(workload.method, wire));
  }
}

void Load::Send(Clock::time_point due, ::grpc::CompletionQueue* queue) {
  auto call = std::make_unique<Call>();
  call->due = due;
  call->variant = next_variant_;
  next_variant_ = (next_variant_ + 1) % requests_.size();
  call->context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  call->reader =
      stub_.PrepareUnaryCall(&call->context, method_path_, requests_[call->variant], queue);
  call->reader->StartCall();
  Call* tag = call.release();  // owned by the queue until Take()
  tag->reader->Finish(&tag->reply, &tag->status, tag);
}

void Load::Take(std::unique_ptr<Call> call, LoadReport* report) {
  if (!call->status.ok()) {
    report->NoteStatusError("status " + std::to_string(call->status.error_code()) + ": " +
                            call->status.error_message());
    return;
  }
  report->latencies_us.push_back(Microseconds(Clock::now() - call->due));
  // Map order differs between replies but never their size: the cheap check for every reply.
  if (call->reply.Length() != expected_[call->variant].size()) {
    report->NoteReplyError("a reply to " + workload_.name + " has " +
                           std::to_string(call->reply.Length()) + " bytes instead of " +
                           std::to_string(expected_[call->variant].size()));
    return;
  }
  last_replies_[call->variant].Swap(&call->reply);
}

void Load::CompareLastReplies(LoadReport* report) {
  for (size_t v = 0; v < last_replies_.size(); ++v) {
    if (!last_replies_[v].Valid()) continue;
    const std::string reply = Flatten(last_replies_[v]);
    last_replies_[v].Clear();
    if (NormalizedResponse(workload_.method, reply) == expected_[v]) continue;
    report->NoteReplyError("a reply to " + workload_.name +
                           " differs from the answer computed here");
  }
}

LoadReport Load::WarmUp(int requests_min) {
  LoadReport report;
  const int requests = std::max(requests_min, static_cast<int>(requests_.size()));
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < requests; ++i) {
    ::grpc::CompletionQueue queue;
    Send(Clock::now(), &queue);
    ++report.requests;
    queue.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue.Next(&tag, &ok);) {
      Take(std::unique_ptr<Call>(static_cast<Call*>(tag)), &report);
    }
    if (i + 1 == static_cast<int>(requests_.size())) CompareLastReplies(&report);
  }
  report.seconds = Microseconds(Clock::now() - start) * 1e-6;
  return report;
}

LoadReport Load::OpenLoop(double qps, double seconds) {
  LoadReport report;
  ::grpc::CompletionQueue queue;
  std::jthread taker([&] {
    void* tag = nullptr;
    for (bool ok = false; queue.Next(&tag, &ok);) {
      Take(std::unique_ptr<Call>(static_cast<Call*>(tag)), &report);
    }
  });
  Schedule schedule(qps, seconds);
  for (uint64_t i = 0; i < schedule.requests(); ++i) Send(schedule.WaitFor(i), &queue);
  schedule.End(&report);
  queue.Shutdown();
  taker.join();
  report.requests = schedule.requests();
  report.seconds = Microseconds(Clock::now() - schedule.start()) * 1e-6;
  CompareLastReplies(&report);
  return report;
}

LoadReport Load::ClosedLoop(int in_flight, double seconds) {
  LoadReport report;
  ::grpc::CompletionQueue queue;
  const Clock::time_point start = Clock::now();
  const Clock::time_point end =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (int i = 0; i < in_flight; ++i) Send(start, &queue);
  report.requests = static_cast<uint64_t>(in_flight);
  int outstanding = in_flight;
  void* tag = nullptr;
  for (bool ok = false; queue.Next(&tag, &ok);) {
    Take(std::unique_ptr<Call>(static_cast<Call*>(tag)), &report);
    const Clock::time_point now = Clock::now();
    if (now < end) {
      Send(now, &queue);
      ++report.requests;
    } else if (--outstanding == 0) {
      queue.Shutdown();
    }
  }
  report.seconds = Microseconds(Clock::now() - start) * 1e-6;
  CompareLastReplies(&report);
  return report;
}

}  // namespace harena::bench
