#include "harena/pb/wire/heap_charge.h"

#include <algorithm>
#include <optional>

#include "harena/pb/layout/heap_costs.h"
#include "harena/pb/wire/schema.h"
#include "harena/pb/wire/walker.h"

namespace harena::pb::wire {
namespace {

// Of the request's limit, and of the process's, which others need too.
constexpr size_t kRequestPart = 8;
constexpr size_t kProcessPart = 128;

void Charge(OutsideCharge& outside, size_t bytes) {
  Refusal refusal;
  if (!outside.TryCharge(bytes, &refusal)) throw BudgetExceeded(refusal);
}

Walked WalkType(const google::protobuf::Descriptor& type, std::string_view wire, int levels_max) {
  std::optional<Schemas> own;
  const Schema* schema = Schemas::OfGenerated(type);
  if (schema == nullptr) schema = &own.emplace().Of(type);
  return Walk(*schema, wire, levels_max);
}

}  // namespace

size_t ChargeHeap(OutsideCharge& outside, const google::protobuf::Descriptor* type,
                  std::string_view wire, int levels_max, size_t counted_at_most) {
  if (!IsBounded(outside.budget())) {
    Charge(outside, wire.size());
    return 0;
  }
  const size_t most_bytes = (1 + layout::kBytesPerByte) * wire.size();
  const size_t small_part_bytes = std::min(outside.budget().bytes_max() / kRequestPart,
                                           ProcessBudget().bytes_max() / kProcessPart);
  if (counted_at_most + most_bytes <= small_part_bytes) {
    Charge(outside, most_bytes);
    return most_bytes;
  }
  if (type == nullptr) {
    // Its unknown fields are one string, which doubles.
    Charge(outside, 3 * wire.size());
  } else {
    Charge(outside, wire.size() + WalkType(*type, wire, levels_max).heap_bytes);
  }
  return 0;
}

bool NestsDeeper(const google::protobuf::Descriptor& type, std::string_view wire, int levels_max) {
  return WalkType(type, wire, levels_max).too_deep;
}

}  // namespace harena::pb::wire
