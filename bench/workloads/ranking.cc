#include "bench/workloads/ranking.h"

#include <algorithm>
#include <vector>

namespace harena::bench {
namespace {

struct Scored {
  const v1::Candidate* item;
  double score;
};

struct ScoredGroup {
  const v1::CandidateGroup* group;
  std::vector<Scored> items;  // best first
  double score_best;
};

double ScoreOf(const v1::Viewer& viewer, const v1::Candidate& item) {
  double score = 0;
  const int terms = std::min(viewer.weights_size(), item.scores_size());
  for (int i = 0; i < terms; ++i) score += viewer.weights(i) * item.scores(i);
  return score;
}

ScoredGroup ScoreGroup(const v1::Viewer& viewer, const v1::CandidateGroup& group) {
  ScoredGroup scored{&group, {}, 0};
  scored.items.reserve(static_cast<size_t>(group.items_size()));
  for (const v1::Candidate& item : group.items()) {
    scored.items.push_back({&item, ScoreOf(viewer, item)});
  }
  std::stable_sort(scored.items.begin(), scored.items.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
  if (!scored.items.empty()) scored.score_best = scored.items.front().score;
  return scored;
}

void CopyPlace(const v1::Place& from, v1::Place* to) {
  to->set_latitude(from.latitude());
  to->set_longitude(from.longitude());
  to->set_region(from.region());
}

void AddReason(const v1::Tag& tag, v1::RankedItem* ranked) {
  v1::Tag* reason = ranked->add_reasons();
  reason->set_key(tag.key());
  reason->set_value(tag.value());
  reason->set_weight(tag.weight());
  if (tag.has_origin()) {
    v1::Origin* origin = reason->mutable_origin();
    origin->set_feed(tag.origin().feed());
    origin->set_revision(tag.origin().revision());
  }
}

void FillItem(const v1::Viewer& viewer, const Scored& scored, uint32_t position,
              v1::RankedItem* ranked) {
  const v1::Candidate& item = *scored.item;
  ranked->set_item_id(item.item_id());
  ranked->set_name(item.name());
  ranked->set_url(item.url());
  ranked->set_price(item.price());
  ranked->set_score(scored.score);
  ranked->set_position(position);
  const int terms = std::min(viewer.weights_size(), item.scores_size());
  for (int i = 0; i < terms; ++i) {
    ranked->add_contributions(viewer.weights(i) * item.scores(i));
  }
  for (const int32_t category : item.categories()) ranked->add_categories(category);
  for (const uint32_t seen : item.history()) ranked->add_history(seen);
  for (const v1::Tag& tag : item.tags()) AddReason(tag, ranked);
  if (item.has_place()) CopyPlace(item.place(), ranked->mutable_place());
  if (item.has_stock()) ranked->set_stock(item.stock());
  ranked->set_fingerprint(item.fingerprint());
}

}  // namespace

void Rank(const v1::RankRequest& request, v1::RankResponse* response) {
  const v1::Viewer& viewer = request.viewer();
  std::vector<ScoredGroup> groups;
  groups.reserve(static_cast<size_t>(request.groups_size()));
  for (const v1::CandidateGroup& group : request.groups()) {
    groups.push_back(ScoreGroup(viewer, group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const ScoredGroup& a, const ScoredGroup& b) {
    return a.score_best > b.score_best;
  });

  response->set_request_id(request.request_id());
  response->set_viewer_id(viewer.viewer_id());
  for (const auto& [key, value] : request.context()) (*response->mutable_context())[key] = value;
  for (const ScoredGroup& scored : groups) {
    v1::RankedGroup* ranked = response->add_groups();
    ranked->set_title(scored.group->title());
    ranked->set_score_best(scored.score_best);
    for (const auto& [key, value] : scored.group->labels())
      (*ranked->mutable_labels())[key] = value;
    for (const auto& [key, value] : scored.group->counters()) {
      (*ranked->mutable_counters())[key] = value;
    }
    uint32_t position = 0;
    for (const Scored& item : scored.items) {
      FillItem(viewer, item, ++position, ranked->add_items());
    }
  }
}

}  // namespace harena::bench
