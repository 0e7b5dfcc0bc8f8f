#pragma once

#include <memory>
#include <string>
#include <utility>

#include <brpc/interceptor.h>

#include "harena/mem/budget.h"

namespace harena::brpc {

/// Answers requests with ELIMIT, before anything is made for them, while the process's limit is
/// used up: the one place where brpc lets a request be refused before it is parsed.
///
///   options.interceptor = new harena::brpc::Admission;
///   options.server_owns_interceptor = true;
///
/// Thread rule: any thread. Lifetime rule: as brpc's other interceptors.
class Admission final : public ::brpc::Interceptor {
 public:
  /// `next` is asked about what this lets pass; null for nobody.
  explicit Admission(std::unique_ptr<::brpc::Interceptor> next = nullptr)
      : next_(std::move(next)) {}

  bool Accept(const ::brpc::Controller* controller, int& error_code,
              std::string& error_text) const override;

 private:
  const std::unique_ptr<::brpc::Interceptor> next_;
};

}  // namespace harena::brpc
