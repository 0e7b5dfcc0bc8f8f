#include "harena/pb/layout/string_image.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace harena::pb::layout {
namespace {

bool ReadsAs(std::string_view text) {
  alignas(StringImage) char place[StringImage::BytesFor(64)];
  StringImage::Write(place, text.data(), text.size());
  const auto* image = reinterpret_cast<const std::string*>(place);
  const std::string copy = *image;
  const bool local = image->data() >= place && image->data() < place + sizeof(StringImage);
  const bool ok = *image == text && copy == text && image->c_str()[text.size()] == '\0' &&
                  image->capacity() >= text.size() &&
                  local == (text.size() <= StringImage::kLocalMax) && copy.data() != image->data();
  StringImage::Defuse(place);
  return ok && image->empty();
}

bool IsSwitchedOff() {
  const char* const value = std::getenv("HARENA_STRING_IMAGES");
  return value != nullptr && std::string_view(value) == "off";
}

bool Try() {
  return sizeof(std::string) == sizeof(StringImage) && ReadsAs("") && ReadsAs("fifteen bytes..") &&
         ReadsAs("sixteen bytes...") &&
         ReadsAs("a string that does not fit into the object itself");
}

}  // namespace

bool StringImagesWork() noexcept {
  static const bool works = HARENA_CODEC != 0 && !IsSwitchedOff() && Try();
  return works;
}

}  // namespace harena::pb::layout
