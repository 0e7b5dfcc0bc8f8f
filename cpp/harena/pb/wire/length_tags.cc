#include "harena/pb/wire/length_tags.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <google/protobuf/message.h>

#include "harena/base/fork_mutex.h"
#include "harena/pb/capabilities.h"
#include "harena/pb/wire/recent.h"

namespace harena::pb::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;

// Goes through the types below one, as whoever reads them meets them.
class Gatherer {
 public:
  explicit Gatherer(bool on_arena) {
    if (!on_arena) return;
    for (const CodecMessage& message : Capabilities().messages) {
      if (message.why_stock.empty()) codec_names_.emplace(message.name);
    }
  }

  // False when anything may stand there.
  bool Add(const Descriptor& type) {
    return AddBelow(type, codec_names_.contains(type.full_name()));
  }
  std::vector<uint32_t> Numbers() const { return {numbers_.begin(), numbers_.end()}; }

 private:
  // `checking` is whether the type's code looks at lengths itself.
  bool AddBelow(const Descriptor& type, bool checking) {
    if (!(checking ? checking_seen_ : stock_seen_).insert(&type).second) return true;
    if (type.extension_range_count() > 0) return false;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.message_type() == nullptr) continue;
      const Descriptor& inner = *field.message_type();
      const bool inner_checking =
          checking && (field.is_map() || codec_names_.contains(inner.full_name()));
      if (!inner_checking && field.type() == FieldDescriptor::TYPE_MESSAGE) {
        numbers_.insert(static_cast<uint32_t>(field.number()));
      }
      if (!AddBelow(inner, inner_checking)) return false;
    }
    return true;
  }

  std::unordered_set<std::string> codec_names_;
  std::unordered_set<const Descriptor*> checking_seen_, stock_seen_;
  std::unordered_set<uint32_t> numbers_;
};

}  // namespace

LengthTags::LengthTags() noexcept : shape_(nullptr), any_(true) {
  for (size_t byte = 0; byte < uses_.size(); ++byte) {
    uses_[byte] = (byte & 7) == kLengthDelimited ? kWhole : kLast;
  }
}

LengthTags::LengthTags(const Shape& shape, std::vector<uint32_t> numbers) noexcept
    : shape_(&shape), any_(false), numbers_(std::move(numbers)) {
  std::sort(numbers_.begin(), numbers_.end());
  if (numbers_.empty()) return;
  for (const uint32_t number : numbers_) {
    uint32_t tag = number << 3 | kLengthDelimited;
    if (tag < 0x80) uses_[tag] |= kWhole;
    while (tag >= 0x80) tag >>= 7;
    uses_[tag] |= kLast;
  }
  // Tags may be longer than they need to be; of the fifth byte, protobuf drops three bits.
  for (size_t byte = 0; byte < uses_.size(); byte += 0x10) uses_[byte] |= kLast;
  for (size_t byte = 0x10; byte < uses_.size(); ++byte) {
    if ((uses_[byte & 0x0f] & kLast) != 0) uses_[byte] |= kLast;
  }
}

bool LengthTags::IsLongTag(const char* begin, const char* end) const noexcept {
  uint64_t tag = static_cast<uint8_t>(end[-1]);
  const auto bytes_max =
      static_cast<ptrdiff_t>(std::min(kTagBytesMax, static_cast<size_t>(end - begin)));
  for (ptrdiff_t bytes = 2; bytes <= bytes_max; ++bytes) {
    const auto byte = static_cast<uint8_t>(end[-bytes]);
    if (byte < 0x80) return false;
    tag = tag << 7 | (byte & 0x7f);
    const auto known = static_cast<uint32_t>(tag);
    if ((known & 7) != kLengthDelimited) continue;
    if (any_ || std::binary_search(numbers_.begin(), numbers_.end(), known >> 3)) return true;
  }
  return false;
}

const LengthTags& LengthTags::OfAny() {
  static const auto& any = *new LengthTags;
  return any;
}

const LengthTags& LengthTags::Of(const google::protobuf::MessageLite& message) {
  const bool on_arena = message.GetArena() != nullptr;
  const auto find = [&]() -> const LengthTags* {
    const auto* const full = dynamic_cast<const google::protobuf::Message*>(&message);
    if (full == nullptr) return &OfAny();
    const Descriptor& type = *full->GetDescriptor();
    if (type.file()->pool() != DescriptorPool::generated_pool()) return &OfAny();
    static auto& mutex = *new ForkMutex;
    using Known = std::unordered_map<const Descriptor*, const LengthTags*>;
    static auto& all_known = *new std::array<Known, 2>;
    const std::lock_guard lock(mutex);
    Known& known = all_known[on_arena];
    const auto found = known.find(&type);
    if (found != known.end()) return found->second;
    Gatherer gatherer(on_arena);
    const LengthTags* const tags =
        gatherer.Add(type) ? new LengthTags(*Shapes::OfGenerated(type), gatherer.Numbers())
                           : &OfAny();
    known.emplace(&type, tags);
    return tags;
  };
  thread_local constinit std::array<Recent<std::type_info, const LengthTags*>, 2> recent;
  // Types that the program made share one class, for which the answer is the same.
  return *recent[on_arena].Get(&typeid(message), find);
}

}  // namespace harena::pb::wire
