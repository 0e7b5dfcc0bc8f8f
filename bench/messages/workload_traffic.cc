#include "bench/messages/workload_traffic.h"

#include "bench/messages/bounded_traffic.h"

namespace harena::bench {
namespace {

template <typename Method>
struct WorkloadHandler {
  using Request = typename Method::Request;
  using Response = typename Method::Response;
  void Handle(size_t /*number*/, const Request& request, Response* response) const {
    Method::Handle(request, response);
  }
};

}  // namespace

std::unique_ptr<Traffic> MakeTraffic(const Workload& workload) {
  return VisitMethod(workload.method, [&](auto method) -> std::unique_ptr<Traffic> {
    using Handler = WorkloadHandler<decltype(method)>;
    return std::make_unique<BoundedTraffic<Handler>>(workload.name, workload.requests, Handler{});
  });
}

}  // namespace harena::bench
