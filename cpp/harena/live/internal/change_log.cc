#include "harena/live/internal/change_log.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace harena::live::internal {
namespace {

// Changes that were not made here are noticed, and by whom is known only where pb::ChangeAs() says.
constexpr char kByPage[] = "page";
constexpr char kByApi[] = "api";

std::string TextOf(const Json& value) {
  if (value.is_null()) return "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string Rfc3339(std::chrono::system_clock::time_point at) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count();
  const time_t seconds = static_cast<time_t>(ms / 1000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", &utc);
  const std::string fraction = std::to_string(1000 + ms % 1000);  // with its leading zeroes
  return text.data() + fraction.substr(1) + "Z";
}

Json ChangeLog::Change::AsJson() const {
  Json json = {{"id", id},
               {"at", Rfc3339(at)},
               {"who", who},
               {"method", place.method},
               {"setting", place.setting},
               {"from", TextOf(from)},
               {"to", TextOf(to)},
               {"undone", undone}};
  if (!place.pool.empty()) json["pool"] = place.pool;
  return json;
}

ChangeLog::ChangeLog()
    : known_(ValuesNow()), listener_([this](const char* who) {
        std::lock_guard lock(mutex_);
        NoticeLocked(who == nullptr ? kByApi : who);
      }) {}

Json ChangeLog::All() const {
  std::lock_guard lock(mutex_);
  Json all = Json::array();
  for (const Change& change : changes_) all.push_back(change.AsJson());
  return all;
}

void ChangeLog::Notice() {
  std::lock_guard lock(mutex_);
  NoticeLocked(kByApi);
}

Json ChangeLog::NoticeLocked(const char* who) {
  auto now = ValuesNow();
  Json made = Json::array();
  for (const auto& [place, after] : now) {
    const auto before = known_.find(place);
    // Where a server began or ended nobody changed anything.
    if (before == known_.end() || before->second.size() != after.size()) continue;
    const auto [from, to] =
        std::mismatch(before->second.begin(), before->second.end(), after.begin());
    if (to == after.end()) continue;
    changes_.push_back({.id = next_++,
                        .at = std::chrono::system_clock::now(),
                        .who = who,
                        .place = place,
                        .from = *from,
                        .to = *to,
                        .undone = false});
    made.push_back(changes_.back().AsJson());
    if (changes_.size() > kChangesMax) changes_.pop_front();
  }
  known_ = std::move(now);
  return made;
}

ChangeLog::Outcome ChangeLog::Set(const Wanted& wanted) {
  if (Problem problem = Check(wanted)) return {.problem = std::move(problem)};
  std::lock_guard lock(mutex_);
  NoticeLocked(kByApi);
  if (Problem problem = Apply(wanted)) return {.problem = std::move(problem)};
  return {.changes = NoticeLocked(kByPage)};
}

ChangeLog::Change* ChangeLog::Find(int64_t id) {
  const auto found = std::find_if(changes_.begin(), changes_.end(),
                                  [id](const Change& change) { return change.id == id; });
  return found == changes_.end() ? nullptr : &*found;
}

ChangeLog::Outcome ChangeLog::Undo(int64_t id) {
  std::lock_guard lock(mutex_);
  NoticeLocked(kByApi);
  Change* change = Find(id);
  if (change == nullptr) {
    return {.problem = "there is no change " + std::to_string(id) +
                       "; the status lists those that can be undone"};
  }
  if (change->undone) return {.problem = "change " + std::to_string(id) + " was undone already"};
  const Place& place = change->place;
  for (const auto& [other, values] : known_) {
    const bool same =
        other.method == place.method && other.pool == place.pool && other.setting == place.setting;
    if (!same) continue;
    for (const Json& value : values) {
      if (value == change->to) continue;
      return {.problem = place.setting + " is " + TextOf(value) + " by now and not " +
                         TextOf(change->to) + ": set it to what you want instead"};
    }
  }
  const Wanted back{
      .method = place.method, .pool = place.pool, .values = {{place.setting, change->from}}};
  if (Problem problem = Apply(back)) return {.problem = std::move(problem)};
  Json made = NoticeLocked(kByPage);
  // What was added may have pushed it out of the list.
  if (Change* undone = Find(id)) undone->undone = true;
  return {.changes = std::move(made)};
}

}  // namespace harena::live::internal
