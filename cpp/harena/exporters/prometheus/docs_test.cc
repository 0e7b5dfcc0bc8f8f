// docs/metrics.md against what is exported.
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <google/protobuf/empty.pb.h>
#include <gtest/gtest.h>

#include "harena/exporters/prometheus/collector.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::prometheus {
namespace {

struct Row {
  std::string type;
  std::string help;
  std::set<std::string> labels;
};

std::vector<std::string> CellsOf(const std::string& line) {
  static const std::regex kSpaces("^ +| +$");
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) {
    cells.push_back(std::regex_replace(cell, kSpaces, ""));
  }
  return cells;
}

std::set<std::string> QuotedIn(const std::string& text) {
  static const std::regex kQuoted("`([^`]+)`");
  std::set<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), kQuoted), end; at != end; ++at) {
    words.insert((*at)[1]);
  }
  return words;
}

// The metrics that C++ has, by their names.
std::map<std::string, Row> ReadPage() {
  std::map<std::string, Row> rows;
  std::set<std::string> common;
  std::ifstream page(HARENA_METRICS_PAGE);
  for (std::string line; std::getline(page, line);) {
    if (line == "## Per method") common = {"framework", "method", "server"};
    if (line == "## Per process") common = {};
    if (line == "## Per page pool") common = {"pool"};
    if (line.rfind("| `harena_", 0) != 0) continue;
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.at(5).find("C++") == std::string::npos) continue;
    Row row{.type = cells.at(2), .help = cells.at(6), .labels = QuotedIn(cells.at(4))};
    row.labels.insert(common.begin(), common.end());
    rows[*QuotedIn(cells.at(1)).begin()] = row;
  }
  return rows;
}

std::string NameOf(::prometheus::MetricType type) {
  switch (type) {
    case ::prometheus::MetricType::Counter:
      return "counter";
    case ::prometheus::MetricType::Gauge:
      return "gauge";
    case ::prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "of another type";
  }
}

TEST(MetricsPage, ListsWhatIsExported) {
  PagePool pool(TestOptions());
  const auto& prototype = google::protobuf::Empty::default_instance();
  pb::MethodSet methods("test");
  methods.Add(std::make_shared<pb::Method>(
      "/s/A", Options{.page_pool = &pool}, prototype, prototype,
      pb::MessageTypes{.why_not_reusable = std::nullopt, .codec = false}));
  const pb::Published published(methods);
  std::map<std::string, Row> rows = ReadPage();
  ASSERT_GE(rows.size(), 30u);
  for (const auto& family : Collector().Collect()) {
    const auto found = rows.find(family.name);
    if (found == rows.end()) {
      ADD_FAILURE() << family.name << " is exported and not listed for C++";
      continue;
    }
    EXPECT_EQ(found->second.type, NameOf(family.type)) << family.name;
    EXPECT_EQ(found->second.help, family.help) << family.name;
    std::set<std::string> labels;
    for (const auto& label : family.metric.at(0).label) labels.insert(label.name);
    EXPECT_EQ(found->second.labels, labels) << family.name;
    rows.erase(found);
  }
  for (const auto& [name, row] : rows) ADD_FAILURE() << name << " is listed and not exported";
}

}  // namespace
}  // namespace harena::prometheus
