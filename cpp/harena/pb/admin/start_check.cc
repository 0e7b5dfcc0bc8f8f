#include "harena/pb/admin/start_check.h"

#include <algorithm>
#include <atomic>

#include "harena/base/log.h"

namespace harena {
namespace {

std::string CodecText(const pb::CapabilityReport& report) {
  const auto served = std::count_if(report.messages.begin(), report.messages.end(),
                                    [](const auto& message) { return message.why_stock.empty(); });
  std::string text = "codec ";
  text += report.codec ? "on" : report.serializer ? "serializer only" : "off";
  text += " (protobuf " + report.protobuf_version + ", arena strings ";
  text += report.arena_strings ? "on" : "off";
  return text + ", " + std::to_string(served) + " messages)";
}

}  // namespace

std::string SelfCheckReport::ToText() const {
  std::string text = "self-check: " + memory.ToText();
  text += quarantine_one_in == 0 ? ", no scope sampled"
                                 : ", 1 in " + std::to_string(quarantine_one_in) + " scopes";
  return text + ", " + codec;
}

SelfCheckReport SelfCheck(const Options& options) {
  SelfCheckReport report;
  report.memory =
      CheckMemory(options.pool(),
                  options.quarantine_one_in != 0 ? CheckQuarantine::kYes : CheckQuarantine::kNo);
  report.quarantine_one_in = options.quarantine_one_in;
  report.codec = CodecText(pb::Capabilities());
  Log(report.ok() ? Severity::kInfo : Severity::kWarning, report.ToText());
  return report;
}

bool SelfCheckOnce(const Options& options) {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return false;
  SelfCheck(options);
  return true;
}

}  // namespace harena
