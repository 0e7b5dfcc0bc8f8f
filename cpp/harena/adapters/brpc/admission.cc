#include "harena/adapters/brpc/admission.h"

#include <brpc/errno.pb.h>

namespace harena::brpc {

bool Admission::Accept(const ::brpc::Controller* controller, int& error_code,
                       std::string& error_text) const {
  const Budget& budget = ProcessBudget();
  const size_t bytes_used = budget.bytes_used();
  if (bytes_used >= budget.bytes_max()) {
    error_code = ::brpc::ELIMIT;
    error_text = "harena: " + Refusal{.limit = "process_bytes_max",
                                      .bytes_max = budget.bytes_max(),
                                      .bytes_used = bytes_used}
                                  .Message();
    return false;
  }
  return next_ == nullptr || next_->Accept(controller, error_code, error_text);
}

}  // namespace harena::brpc
