#include "harena/pb/layout/raw_string.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace harena::pb::layout {
namespace {

bool ReadsAs(std::string_view text) {
  alignas(RawString) char place[RawString::BytesFor(64)];
  RawString::Write(place, text.data(), text.size());
  const auto* image = reinterpret_cast<const std::string*>(place);
  const std::string copy = *image;
  const bool local = image->data() >= place && image->data() < place + sizeof(RawString);
  const bool ok = *image == text && copy == text && image->c_str()[text.size()] == '\0' &&
                  image->capacity() >= text.size() &&
                  local == (text.size() <= RawString::kLocalMax) && copy.data() != image->data();
  RawString::Defuse(place);
  return ok && image->empty();
}

bool IsSwitchedOff() {
  const char* const value = std::getenv("HARENA_STRING_IMAGES");
  return value != nullptr && std::string_view(value) == "off";
}

bool Try() {
  return sizeof(std::string) == sizeof(RawString) && ReadsAs("") && ReadsAs("fifteen bytes..") &&
         ReadsAs("sixteen bytes...") &&
         ReadsAs("a string that does not fit into the object itself");
}

}  // namespace

bool RawStringsWork() noexcept {
  static const bool works = HARENA_CODEC != 0 && !IsSwitchedOff() && Try();
  return works;
}

}  // namespace harena::pb::layout
