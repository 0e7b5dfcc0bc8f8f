#include "bench/messages/workload_traffic.h"

#include "bench/messages/bounds.h"
#include "bench/messages/typed_traffic.h"

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

template <typename Method>
class WorkloadTraffic final : public TypedTraffic<WorkloadHandler<Method>, kTypesCarryCodec> {
 public:
  using Base = TypedTraffic<WorkloadHandler<Method>, kTypesCarryCodec>;

  explicit WorkloadTraffic(const Workload& workload) : Base(workload.name, workload.requests, {}) {}

  std::unique_ptr<RunnerFactory> MakeRunners(std::string_view mode) const override {
    if (auto bound = MakeBoundFactory(mode, *this, Method::Request::descriptor())) return bound;
    return Base::MakeRunners(mode);
  }
};

}  // namespace

std::unique_ptr<Traffic> MakeTraffic(const Workload& workload) {
  return VisitMethod(workload.method, [&](auto method) -> std::unique_ptr<Traffic> {
    return std::make_unique<WorkloadTraffic<decltype(method)>>(workload);
  });
}

}  // namespace harena::bench
