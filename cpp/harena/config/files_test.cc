// The files of testdata/config, which Go's tests read as well: what each means, or what is wrong
// with it, by line and column.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/config/config.h"

namespace harena::config {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FilesOf(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(HARENA_CONFIG_FILES) / folder)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string NameOf(const ::testing::TestParamInfo<fs::path>& info) {
  return info.param.stem().string();
}

// The content of the file beside it with another ending, or "".
std::string Beside(fs::path path, const std::string& ending) {
  std::ifstream file(path.replace_extension(ending));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<Config> Read(const fs::path& path, Problems& problems) {
  const auto config = Config::Load(path, problems);
  if (!config) return std::nullopt;
  std::map<std::string, std::string> variables;
  std::istringstream lines(Beside(path, ".environment"));
  for (std::string line; std::getline(lines, line);) {
    const size_t sign = line.find('=');
    variables[line.substr(0, sign)] = line.substr(sign + 1);
  }
  const auto lookup = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  };
  return config->With(FromEnvironment(lookup), problems);
}

void Describe(std::ostream& out, const std::string& section, const std::vector<std::string>& keys,
              const Settings& settings) {
  for (const std::string& key : keys) {
    const auto found = settings.find(key);
    if (found == settings.end()) continue;
    const Value& value = found->second;
    out << section << ' ' << key << " = ";
    if (value.unset || key == "mode") {
      out << value.text;
    } else if (value.real != 0) {
      out << value.real;
    } else if (key == kDecayAfterKey) {
      out << value.integer * 1'000'000;  // Go counts nanoseconds
    } else {
      out << value.integer;
    }
    out << '\n';
  }
}

class ValidFiles : public ::testing::TestWithParam<fs::path> {};

TEST_P(ValidFiles, MeanWhatStandsBeside) {
  Problems problems;
  const auto config = Read(GetParam(), problems);
  ASSERT_TRUE(config) << ToString(problems);
  std::ostringstream out;
  Describe(out, "process", Keys(Section::kProcess), config->Process());
  Describe(out, "process", Keys(Section::kPagePool), config->Process());
  Describe(out, "defaults", Keys(Section::kMethod), config->For(""));
  for (const std::string& method : config->methods()) {
    Describe(out, method, Keys(Section::kMethod), config->For(method));
  }
  EXPECT_EQ(out.str(), Beside(GetParam(), ".settings"));
}

INSTANTIATE_TEST_SUITE_P(Files, ValidFiles, ::testing::ValuesIn(FilesOf("valid")), NameOf);

class InvalidFiles : public ::testing::TestWithParam<fs::path> {};

TEST_P(InvalidFiles, AreRefusedAsStandsBeside) {
  Problems problems;
  ASSERT_FALSE(Read(GetParam(), problems));
  std::string got;
  for (Problem& problem : problems) {
    // Each language has a YAML reader of its own.
    const bool syntax = problem.reason.starts_with("no valid YAML");
    if (problem.place.source == GetParam()) {
      got += std::to_string(problem.place.line) + ":";
      if (!syntax) got += std::to_string(problem.place.column) + ":";
      got += ' ';
    } else {
      got += problem.place.source + ": ";
    }
    got += (syntax ? "no valid YAML" : problem.reason) + '\n';
  }
  EXPECT_EQ(got, Beside(GetParam(), ".errors"));
}

INSTANTIATE_TEST_SUITE_P(Files, InvalidFiles, ::testing::ValuesIn(FilesOf("invalid")), NameOf);

}  // namespace
}  // namespace harena::config
