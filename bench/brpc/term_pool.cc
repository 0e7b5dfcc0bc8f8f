#include "bench/brpc/term_pool.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "harena/bench/v1/terms.pb.h"

namespace harena::bench {
namespace {

constexpr uint32_t kTrees = 100;
constexpr uint32_t kGroupPartsEnd = 10;
constexpr uint32_t kListTermsEnd = 100;
constexpr uint32_t kTermBytesEnd = 20;

// xorshift64*: the standard library's distributions differ between its makers.
class Dice {
 public:
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>((Next() >> 32) * end >> 32); }

 private:
  uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }

  uint64_t state_ = 0x9e3779b97f4a7c15;
};

void FillTerm(Dice& dice, std::string* term) {
  term->resize(dice.Below(kTermBytesEnd));
  for (char& byte : *term) byte = static_cast<char>(dice.Below(256));
}

void FillGroup(Dice& dice, v1::TermGroup* group) {
  const uint32_t parts = dice.Below(kGroupPartsEnd);
  for (uint32_t i = 0; i < parts; ++i) {
    v1::TermList* list = group->add_lists();
    const uint32_t terms = dice.Below(kListTermsEnd);
    for (uint32_t t = 0; t < terms; ++t) FillTerm(dice, list->add_terms());
    FillTerm(dice, group->add_terms());
  }
}

std::vector<std::string> MakeRequests() {
  Dice dice;
  std::vector<uint32_t> groups(kTrees);
  std::iota(groups.begin(), groups.end(), 0);
  for (uint32_t left = kTrees; left > 1; --left) {
    std::swap(groups[left - 1], groups[dice.Below(left)]);
  }
  std::vector<std::string> requests;
  for (const uint32_t count : groups) {
    v1::EchoRequest request;
    v1::TermTree* tree = request.mutable_tree();
    for (uint32_t i = 0; i < count; ++i) FillGroup(dice, tree->add_groups());
    requests.push_back(request.SerializeAsString());
  }
  return requests;
}

}  // namespace

std::vector<std::string> TermPoolNames() { return {"terms", "terms_attached", "empty"}; }

TermPool MakeTermPool(std::string_view name) {
  if (name == "terms") return {std::string(name), MakeRequests(), false};
  if (name == "terms_attached") return {std::string(name), MakeRequests(), true};
  if (name == "empty") return {std::string(name), {""}, false};
  throw std::invalid_argument("no workload named " + std::string(name));
}

}  // namespace harena::bench
