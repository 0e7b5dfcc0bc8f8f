#include "harena/config/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace harena::config {
namespace {

// Levenshtein's: how many bytes to insert, remove or replace.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Place::ToString() const {
  if (line == 0) return source;
  return source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string Place::Short() const { return line == 0 ? source : "line " + std::to_string(line); }

std::string Problem::ToString() const { return place.ToString() + ": " + reason; }

std::string ToString(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.ToString();
  }
  return text;
}

void Add(Problems& problems, const Place& place, std::string reason) {
  Problem problem{place, std::move(reason)};
  if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
    problems.push_back(std::move(problem));
  }
}

void AddUnknown(Problems& problems, const Place& place, std::string_view what,
                std::string_view name, const std::vector<std::string>& known) {
  std::string reason = "unknown " + std::string(what) + " " + Quote(name);
  if (const auto meant = Near(name, known)) {
    reason += "; did you mean " + *meant + "?";
  } else {
    reason += "; known here are ";
    for (const std::string& each : known) {
      if (&each != &known.front()) reason += ", ";
      reason += each;
    }
  }
  Add(problems, place, std::move(reason));
}

void Sort(Problems& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
}

std::string Visible(std::string_view text) {
  std::string visible(text);
  for (char& c : visible) {
    if (c < ' ' || c > '~') c = '?';
  }
  return visible;
}

std::string Quote(std::string_view text) {
  constexpr size_t kBytesMax = 60;
  std::string visible = Visible(text.substr(0, kBytesMax));
  std::replace(visible.begin(), visible.end(), '"', '?');
  return '"' + visible + (text.size() > kBytesMax ? "...\"" : "\"");
}

std::optional<std::string> Near(std::string_view wrong, const std::vector<std::string>& names) {
  std::optional<std::string> best;
  size_t least = std::max<size_t>(2, wrong.size() / 5) + 1;
  for (const std::string& name : names) {
    const size_t distance = Distance(wrong, name);
    if (distance >= least) continue;
    best = name;
    least = distance;
  }
  return best;
}

}  // namespace harena::config
