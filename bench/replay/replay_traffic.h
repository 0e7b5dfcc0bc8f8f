// Captured messages as the message benchmark's traffic.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/messages/typed_traffic.h"
#include "bench/replay/exchange_file.h"

namespace harena::bench {

/// Answers each request with the response that was captured for it, copied into the response
/// message as a handler would build it. Where none was, the response stays empty.
template <typename RequestT, typename ResponseT>
class CapturedAnswers {
 public:
  using Request = RequestT;
  using Response = ResponseT;

  /// Throws std::runtime_error when a response does not parse.
  explicit CapturedAnswers(const ExchangeFile& file) {
    for (const auto& wire : file.responses) {
      if (!wire) {
        answers_.push_back(nullptr);
        continue;
      }
      auto answer = std::make_shared<Response>();
      if (!answer->ParseFromString(*wire)) {
        throw std::runtime_error("response " + std::to_string(answers_.size()) + " does not parse");
      }
      answers_.push_back(std::move(answer));
    }
  }

  void Handle(size_t number, const Request& /*request*/, Response* response) const {
    if (answers_[number] != nullptr) response->CopyFrom(*answers_[number]);
  }

 private:
  std::vector<std::shared_ptr<const Response>> answers_;
};

/// The exchanges of a file that harena_replay_prepare wrote.
template <typename Request, typename Response, bool types_carry_codec>
std::unique_ptr<Traffic> MakeReplayTraffic(ExchangeFile file) {
  using Answers = CapturedAnswers<Request, Response>;
  Answers answers(file);
  return std::make_unique<TypedTraffic<Answers, types_carry_codec>>(
      "replay", std::move(file.requests), std::move(answers));
}

}  // namespace harena::bench
