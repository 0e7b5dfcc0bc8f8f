#include "bench/workloads/ranking_source.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

#include "bench/workloads/wire.h"

namespace harena::bench {
namespace {

// A candidate's mean wire size with its share of the group, and what is left of a request without
// candidates: fitted to the generated requests, and held by a test of their sizes.
constexpr double kBytesPerCandidate = 729;
constexpr double kBytesPerRequest = 450;
constexpr int kCandidatesPerGroup = 8;

/// Random values by engine and arithmetic only: the standard's distributions differ by library.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  /// A number in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }

  /// A number in [0, 1) with 20 random bits, so that sums are exact enough to repeat anywhere.
  double Fraction() { return static_cast<double>(engine_() >> 44) / (1 << 20); }

  /// Lower-case text of 8 to 60 bytes.
  std::string Text() { return Text(Between(8, 60)); }

  std::string Text(int64_t bytes) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz-_0123";
    std::string text(static_cast<size_t>(bytes), ' ');
    for (char& letter : text) letter = kLetters[engine_() % kLetters.size()];
    return text;
  }

  std::string Bytes(size_t bytes) {
    std::string raw(bytes, '\0');
    for (char& byte : raw) byte = static_cast<char>(engine_());
    return raw;
  }

 private:
  std::mt19937_64 engine_;
};

void FillPlace(Dice& dice, v1::Place* place) {
  place->set_latitude(dice.Fraction() * 180 - 90);
  place->set_longitude(dice.Fraction() * 360 - 180);
  place->set_region(dice.Text());
}

void FillTag(Dice& dice, v1::Tag* tag) {
  tag->set_key(dice.Text(dice.Between(8, 20)));
  tag->set_value(dice.Text());
  tag->set_weight(static_cast<float>(dice.Fraction()));
  v1::Origin* origin = tag->mutable_origin();
  origin->set_feed(dice.Text(dice.Between(8, 24)));
  origin->set_revision(dice.Between(1, 1'000'000));
}

void FillCandidate(Dice& dice, v1::Candidate* item) {
  item->set_item_id(dice.Text(dice.Between(12, 24)));
  item->set_name(dice.Text());
  item->set_url(dice.Text(60));
  item->set_price(static_cast<double>(dice.Between(1, 100'000)) / 100);
  const int64_t tags = dice.Between(3, 5);
  for (int64_t i = 0; i < tags; ++i) FillTag(dice, item->add_tags());
  for (int i = 0; i < 8; ++i) item->add_scores(dice.Fraction());
  const int64_t categories = dice.Between(4, 12);
  for (int64_t i = 0; i < categories; ++i) {
    item->add_categories(static_cast<int32_t>(dice.Between(0, 30'000)));
  }
  const int64_t history = dice.Between(8, 40);
  for (int64_t i = 0; i < history; ++i) {
    item->add_history(static_cast<uint32_t>(dice.Between(0, 2'000'000)));
  }
  FillPlace(dice, item->mutable_place());
  if (dice.Between(0, 3) != 0) item->set_stock(dice.Between(0, 5000));
  item->set_fingerprint(dice.Bytes(16));
}

}  // namespace

void FillRankRequest(const RankingShape& shape, uint64_t seed, v1::RankRequest* request) {
  Dice dice(seed);
  request->set_request_id(dice.Text(32));
  v1::Viewer* viewer = request->mutable_viewer();
  viewer->set_viewer_id(dice.Text(24));
  viewer->set_locale("en-GB-oxendict");
  for (int i = 0; i < 8; ++i) viewer->add_weights(dice.Fraction());
  FillPlace(dice, viewer->mutable_place());
  for (int i = 0; i < 4; ++i) (*request->mutable_context())[dice.Text(12)] = dice.Text();
  for (int g = 0; g < shape.groups; ++g) {
    v1::CandidateGroup* group = request->add_groups();
    group->set_title(dice.Text());
    for (int i = 0; i < 4; ++i) (*group->mutable_labels())[dice.Text(12)] = dice.Text();
    for (int i = 0; i < 2; ++i) {
      (*group->mutable_counters())[dice.Text(12)] = dice.Between(0, 10'000'000);
    }
    const int first = shape.candidates * g / shape.groups;
    const int end = shape.candidates * (g + 1) / shape.groups;
    for (int i = first; i < end; ++i) FillCandidate(dice, group->add_items());
  }
}

namespace {

std::string MakeRankRequest(double bytes, uint64_t seed) {
  RankingShape shape;
  const double candidates = (bytes - kBytesPerRequest) / kBytesPerCandidate;
  shape.candidates = std::max(1, static_cast<int>(candidates + 0.5));
  shape.groups = std::max(1, shape.candidates / kCandidatesPerGroup);
  v1::RankRequest request;
  FillRankRequest(shape, seed, &request);
  return DeterministicBytes(request);
}

}  // namespace

std::vector<std::string> MakeRankRequests(size_t nominal_bytes, int variants, uint64_t seed) {
  std::vector<std::string> requests;
  const double nominal = static_cast<double>(nominal_bytes);
  for (int v = 0; v < variants; ++v) {
    const double share = variants == 1 ? 1.0 : 0.75 + 0.5 * v / (variants - 1);
    requests.push_back(MakeRankRequest(nominal * share, seed + static_cast<uint64_t>(v)));
  }
  return requests;
}

std::vector<std::string> MakeMixedRankRequests(size_t bytes_min, size_t bytes_max, int variants,
                                               uint64_t seed) {
  std::vector<std::string> requests;
  const double span = std::log(static_cast<double>(bytes_max) / static_cast<double>(bytes_min));
  for (int v = 0; v < variants; ++v) {
    // From both ends towards the middle: a giant follows a dwarf.
    const int step = v % 2 == 0 ? v / 2 : variants - 1 - v / 2;
    const double bytes = static_cast<double>(bytes_min) * std::exp(span * step / (variants - 1));
    requests.push_back(MakeRankRequest(bytes, seed + static_cast<uint64_t>(v)));
  }
  return requests;
}

}  // namespace harena::bench
