#include "harena/pb/codec/registered.h"

#include <mutex>

#include "harena/base/fork_mutex.h"
#include "harena/pb/layout/family.h"
#include "harena/pb/layout/raw_string.h"

namespace harena::pb {
namespace {

// Both are there before any static object of another file, and after the last one.
ForkMutex& TheMutex() noexcept {
  static NeverDestroyed<ForkMutex> mutex;
  return *mutex;
}
constinit codec::Registration* newest = nullptr;

std::string VersionName() {
  const int major = GOOGLE_PROTOBUF_VERSION / 1000000;
  // From 22 on the C++ library has a major number of its own in front of the release's.
  return (major == 3 ? "3." : "") + std::to_string(GOOGLE_PROTOBUF_VERSION / 1000 % 1000) + "." +
         std::to_string(GOOGLE_PROTOBUF_VERSION % 1000);
}

std::string WhyNot(bool arena_strings) {
  if (HARENA_SERIALIZER == 0) {
    return "the codec knows protobuf 3.21, 29 and 36 with libstdc++'s C++11 strings; this program "
           "was compiled with others, so protobuf's own code serves every message";
  }
  if (HARENA_CODEC == 0) {
    return "the codec's parser knows libstdc++'s C++11 strings; this program was compiled with "
           "others, so protobuf's own code parses every message; strings of requests are ordinary "
           "ones";
  }
  if (!arena_strings) {
    return "std::string of the C++ library that this program runs with is laid out otherwise than "
           "that of the one it was compiled with, or HARENA_STRING_IMAGES=off says so; protobuf's "
           "own code serves every message";
  }
  return "";
}

}  // namespace

namespace codec {

Registration::Registration(const CodecMessage* messages, size_t count) noexcept
    : messages_(messages), count_(count) {
  const std::lock_guard lock(TheMutex());
  next_ = newest;
  newest = this;
}

Registration::~Registration() {
  const std::lock_guard lock(TheMutex());
  for (Registration** link = &newest; *link != nullptr; link = &(*link)->next_) {
    if (*link != this) continue;
    *link = next_;
    return;
  }
}

}  // namespace codec

CapabilityReport Capabilities() {
  CapabilityReport report;
  report.protobuf_version = VersionName();
  report.arena_strings = layout::RawStringsWork();
  report.codec = report.arena_strings;
  report.serializer = HARENA_CODEC != 0 ? report.arena_strings : HARENA_SERIALIZER != 0;
  report.why_not = WhyNot(report.arena_strings);
  const std::lock_guard lock(TheMutex());
  for (const codec::Registration* one = newest; one != nullptr; one = one->next_) {
    report.messages.insert(report.messages.end(), one->messages_, one->messages_ + one->count_);
  }
  return report;
}

std::string CapabilityReport::ToText() const {
  std::string text = "protobuf " + protobuf_version + ", codec " +
                     (codec        ? "on"
                      : serializer ? "serializer only"
                                   : "off") +
                     ", arena strings " + (arena_strings ? "on" : "off") + "\n";
  if (!why_not.empty()) text += why_not + "\n";
  for (const CodecMessage& message : messages) {
    text += "  " + std::string(message.name) + ": " +
            (message.why_stock.empty() ? "codec"
                                       : "protobuf, because " + std::string(message.why_stock)) +
            "\n";
  }
  return text;
}

}  // namespace harena::pb
