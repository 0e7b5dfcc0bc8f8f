// A libFuzzer target: a file of settings that may hold anything, and the same bytes as a flag. It
// is read, and then all that is made of it can be used; or it is refused, with a place and a reason
// on one line for each thing that is wrong. `make fuzz` runs it; go/config/fuzz_test.go is its
// twin.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harena/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::config {
namespace {

constexpr std::string_view kFile = "harena.yaml";
constexpr std::string_view kFlag = "--harena";

[[noreturn]] void Stop(const std::string& words) {
  std::fprintf(stderr, "%s\n", words.c_str());
  std::abort();
}

// Where there are lines, the problem has one.
void CheckProblems(const Problems& problems, std::string_view source, int line_min) {
  if (problems.empty()) Stop("refused without a reason");
  for (const Problem& problem : problems) {
    const Place& at = problem.place;
    if (at.source != source || at.line < line_min || at.column < line_min) {
      Stop("a problem has no place: " + problem.ToString());
    }
    const auto is_control = [](unsigned char c) { return c < ' '; };
    const std::string& reason = problem.reason;
    if (reason.empty() || std::any_of(reason.begin(), reason.end(), is_control)) {
      Stop("a reason is no line: " + problem.ToString());
    }
  }
}

void CheckUse(const Config& config, std::string_view source, int line_min) {
  auto names = config.methods();
  names.emplace_back();  // of a whole server
  for (const std::string& name : names) {
    Problems problems;
    const auto options = config.OptionsFor(name, {}, problems);
    if (!options) {
      CheckProblems(problems, source, line_min);
    } else if (const auto reason = options->Validate()) {
      Stop(name + " got options that cannot be: " + *reason);
    }
  }
  static_cast<void>(config.Process());
}

void ReadFlag(std::string_view text) {
  const auto flag = FromFlag(kFlag, text);
  if (!flag) return;
  Problems problems;
  const auto config = Config().With({*flag}, problems);
  if (config) {
    CheckUse(*config, kFlag, 0);
  } else {
    CheckProblems(problems, kFlag, 0);
  }
}

void ReadFileOf(std::string_view text) {
  Problems problems;
  const auto config = Config::Parse(kFile, text, problems);
  if (!config) return CheckProblems(problems, kFile, 1);
  if (!problems.empty()) Stop("accepted, with problems: " + ToString(problems));
  CheckUse(*config, kFile, 1);
}

}  // namespace
}  // namespace harena::config

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  harena::config::ReadFlag(text);
  harena::config::ReadFileOf(text);
  return 0;
}
