#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "harena/config/config.h"

namespace harena::config {
namespace {

constexpr char kVersionKey[] = "version";
constexpr char kPagePoolKey[] = "page_pool";
constexpr char kDefaultsKey[] = "defaults";
constexpr char kMethodsKey[] = "methods";

// What a framework may name a method: "/package.Service/Method", in brpc "package.Service.Method".
bool IsMethodName(std::string_view name) {
  const auto has_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  if (std::any_of(name.begin(), name.end(), has_space)) return false;
  const char separator = name.find('/') != std::string_view::npos ? '/' : '.';
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find(separator, begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  if (separator == '/') {
    return parts.size() == 3 && parts[0].empty() && !parts[1].empty() && !parts[2].empty();
  }
  return parts.size() > 1 &&
         std::none_of(parts.begin(), parts.end(), [](auto part) { return part.empty(); });
}

// Where the first nodes of a file's first two documents stand. yaml-cpp's LoadAll() would find
// documents without an end, and take memory for each, where a file begins with a comma.
class DocumentMarks : private YAML::EventHandler {
 public:
  // Throws YAML::Exception.
  explicit DocumentMarks(const std::string& text) {
    std::istringstream input(text);
    YAML::Parser parser(input);
    while (documents_ < 2 && parser.HandleNextDocument(*this)) {
    }
  }
  const std::vector<YAML::Mark>& marks() const { return marks_; }

 private:
  void Node(const YAML::Mark& mark) {
    if (marks_.size() < documents_) marks_.push_back(mark);
  }
  void OnDocumentStart(const YAML::Mark&) override { ++documents_; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Node(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Node(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    Node(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Node(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Node(mark);
  }
  void OnMapEnd() override {}

  size_t documents_ = 0;
  std::vector<YAML::Mark> marks_;
};

}  // namespace

// Turns YAML's nodes into a Config.
class Reader {
 public:
  Reader(std::string_view source, Problems& problems)
      : source_(source), problems_(problems), start_{source_, 1, 1} {
    config_.name_ = source_;
  }

  Config Read(std::string_view text) {
    if (text.size() > kFileBytesMax) {
      Add(problems_, start_,
          "the file is larger than " + std::to_string(kFileBytesMax) +
              " bytes, which no such file needs");
      return {};
    }
    try {
      Documents(std::string(text));
    } catch (const YAML::Exception& error) {
      const Place at = error.mark.is_null() ? start_ : PlaceOf(error.mark);
      // yaml-cpp names the character that it does not like.
      Add(problems_, at, "no valid YAML: " + Visible(error.msg));
      return {};
    }
    if (problems_.empty()) config_.Check(problems_);
    Sort(problems_);
    return std::move(config_);
  }

 private:
  Place PlaceOf(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  // Visits the keys of a mapping and reports those that stand there twice.
  template <typename Visit>
  void ForEach(const std::string& name, const Place& at, const YAML::Node& node, Visit visit) {
    if (node.IsNull()) {
      Add(problems_, at, name + " has no value; give it one, or leave the key out");
      return;
    }
    if (!node.IsMap()) {
      Add(problems_, PlaceOf(node.Mark()), name + " must be a mapping of keys to values");
      return;
    }
    std::map<std::string, int> lines;
    for (const auto& entry : node) {
      const Place key_at = PlaceOf(entry.first.Mark());
      if (!entry.first.IsScalar()) {
        Add(problems_, key_at, "a key must be plain text");
        continue;
      }
      const std::string& key = entry.first.Scalar();
      const auto [there, is_new] = lines.emplace(key, key_at.line);
      if (is_new) {
        visit(key, key_at, entry.second);
      } else {
        Add(problems_, key_at,
            "duplicate key " + Quote(key) + "; line " + std::to_string(there->second) +
                " has it already");
      }
    }
  }

  // A scalar's text; it stands where its key does when there is nothing.
  std::optional<std::pair<std::string, Place>> Text(const std::string& name, const Place& at,
                                                    const YAML::Node& node) {
    if (node.IsNull()) return std::pair{std::string(), at};
    const Place place = PlaceOf(node.Mark());
    if (node.IsScalar()) return std::pair{node.Scalar(), place};
    Add(problems_, place, name + " must be a single value");
    return std::nullopt;
  }

  void Documents(const std::string& text) {
    const DocumentMarks documents(text);
    const auto& marks = documents.marks();
    const YAML::Node first = marks.empty() ? YAML::Node() : YAML::Load(text);
    if (marks.size() > 1 && marks[1].pos == marks[0].pos) {
      Add(problems_, PlaceOf(marks[0]), "no valid YAML: no document begins so");
    } else if (marks.size() > 1) {
      Add(problems_, PlaceOf(marks[1]), "a second document; everything belongs into one");
    } else if (first.IsNull()) {
      Add(problems_, start_, "the file is empty; begin it with \"version: 1\"");
    } else {
      Top(first);
    }
  }

  void Top(const YAML::Node& node) {
    bool versioned = false;
    ForEach("the file", start_, node,
            [&](const std::string& key, const Place& at, const YAML::Node& value) {
              if (key == kVersionKey) {
                versioned = true;
                const auto text = Text(key, at, value);
                if (text && text->first != "1") {
                  Add(problems_, text->second,
                      "version is " + Quote(text->first) + "; this Harena reads version 1");
                }
              } else if (key == kProcessBytesMaxKey) {
                Setting(Section::kProcess, config_.process_, key, at, value);
              } else if (key == kPagePoolKey) {
                config_.process_.merge(ReadSection(key, Section::kPagePool, at, value));
              } else if (key == kDefaultsKey) {
                config_.defaults_ = ReadSection(key, Section::kMethod, at, value);
              } else if (key == kMethodsKey) {
                ForEach(key, at, value, [&](const auto&... method) { ReadMethod(method...); });
              } else {
                AddUnknown(
                    problems_, at, "key", key,
                    {kVersionKey, kProcessBytesMaxKey, kPagePoolKey, kDefaultsKey, kMethodsKey});
              }
            });
    if (!versioned && problems_.empty()) {
      Add(problems_, start_, "the file has no version; begin it with \"version: 1\"");
    }
  }

  void ReadMethod(const std::string& name, const Place& at, const YAML::Node& value) {
    if (!IsMethodName(name)) {
      Add(problems_, at,
          Quote(name) +
              " is no method's full name; write it as \"/package.Service/Method\" (brpc: "
              "\"package.Service.Method\")");
    }
    config_.methods_.push_back(
        {name, at, ReadSection("method " + Quote(name), Section::kMethod, at, value)});
  }

  Settings ReadSection(const std::string& name, Section section, const Place& at,
                       const YAML::Node& node) {
    Settings settings;
    ForEach(name, at, node,
            [&](const auto&... setting) { Setting(section, settings, setting...); });
    return settings;
  }

  void Setting(Section section, Settings& into, const std::string& key, const Place& at,
               const YAML::Node& node) {
    const auto& known = Keys(section);
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      AddUnknown(problems_, at, "key", key, known);
      return;
    }
    const auto text = Text(key, at, node);
    if (!text) return;
    if (auto value = ReadValue(key, text->first, text->second, problems_)) {
      into.insert_or_assign(key, *std::move(value));
    }
  }

  const std::string source_;
  Problems& problems_;
  const Place start_;
  Config config_;
};

std::optional<Config> Config::Parse(std::string_view name, std::string_view text,
                                    Problems& problems) {
  Problems found;
  Config config = Reader(name, found).Read(text);
  if (found.empty()) return config;
  problems.insert(problems.end(), found.begin(), found.end());
  return std::nullopt;
}

}  // namespace harena::config
