#include "harena/config/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

namespace harena::config {
namespace {

constexpr char kSizes[] = "whole bytes, or a whole number with KiB, MiB or GiB, such as 64MiB";

struct Unit {
  std::string_view name;
  int64_t factor;
};
constexpr Unit kByteUnits[] = {
    {"", 1}, {"KiB", int64_t{1} << 10}, {"MiB", int64_t{1} << 20}, {"GiB", int64_t{1} << 30}};
constexpr Unit kTimeUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};

std::optional<int64_t> ReadInteger(std::string_view text) {
  int64_t number = 0;
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <size_t kCount>
std::optional<int64_t> ReadWithUnit(std::string_view text, const Unit (&units)[kCount]) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ReadInteger(text.substr(0, digits));
  for (const Unit& unit : units) {
    if (unit.name != text.substr(digits)) continue;
    if (!number || *number > std::numeric_limits<int64_t>::max() / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

// Digits, and a point with digits after it: nothing that only one language would read.
std::optional<double> ReadReal(std::string_view text) {
  const size_t point = text.find('.');
  const auto is_digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 15 &&
           part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_digits(text.substr(0, point))) return std::nullopt;
  if (point != std::string_view::npos && !is_digits(text.substr(point + 1))) return std::nullopt;
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A way to write a value. `read` answers whether the text is one.
struct Kind {
  std::string unset;  // the word for none, or ""
  std::string want;   // what else completes `x is "..."; write `
  std::function<bool(std::string_view text, Value& value)> read;
};

Kind Size(const std::string& unset, int64_t least) {
  return {unset, std::string(kSizes) + (least > 0 ? ", not 0" : ""),
          [=](std::string_view text, Value& value) {
            const auto bytes = ReadWithUnit(text, kByteUnits);
            value.integer = bytes.value_or(0);
            return bytes && *bytes >= least;
          }};
}

Kind Duration() {
  return {"", "a whole number with ms, s, m or h, such as 10s",
          [](std::string_view text, Value& value) {
            const auto millis = ReadWithUnit(text, kTimeUnits);
            value.integer = millis.value_or(0);
            // As many nanoseconds as Go can hold.
            return millis && *millis <= std::numeric_limits<int64_t>::max() / 1'000'000;
          }};
}

Kind Count(const std::string& unset, int64_t least, int64_t most) {
  return {unset, "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
          [=](std::string_view text, Value& value) {
            const auto count = ReadInteger(text);
            value.integer = count.value_or(0);
            return count && least <= *count && *count <= most;
          }};
}

Kind Real(const std::string& unset, bool (*allowed)(double), const std::string& want) {
  return {unset, want, [=](std::string_view text, Value& value) {
            const auto real = ReadReal(text);
            value.real = real.value_or(0);
            return real && allowed(*real);
          }};
}

Kind ModeName() {
  std::string want = "one of ";
  for (const Mode mode : kModes) {
    if (mode != kModes[0]) want += ", ";
    want += ToString(mode);
  }
  return {"", want, [](std::string_view text, Value&) { return ParseMode(text).has_value(); }};
}

using LayFunction = void (*)(const Value&, Options&);
using CopyFunction = void (*)(const Options&, Options&);

struct Key {
  std::string name;
  Section section;
  Kind kind;
  LayFunction lay = nullptr;  // of methods' keys
  CopyFunction copy = nullptr;
};

// The lay and copy functions of an option; `expression` turns `v`, the value, into its type.
#define HARENA_OPTION(name, expression)                                  \
  [](const Value& v, Options& options) { options.name = (expression); }, \
      [](const Options& from, Options& to) { to.name = from.name; }

// The schema, with docs/configuration.md and go/config/key.go.
const std::vector<Key>& Schema() {
  constexpr int64_t kCountMax = int64_t{1} << 32;
  const auto at_least_one = [](double x) { return x >= 1; };
  const auto percent = [](double x) { return 0 < x && x <= 100; };
  const auto above_one = [](double x) { return x > 1; };
  static const auto& keys = *new std::vector<Key>{
      {"mode", Section::kMethod, ModeName(), HARENA_OPTION(mode, *ParseMode(v.text))},
      {"request_bytes_max", Section::kMethod, Size("unlimited", 1),
       HARENA_OPTION(request_bytes_max,
                     v.unset ? kUnlimitedBytes : static_cast<size_t>(v.integer))},
      {"decoded_ratio_max", Section::kMethod,
       Real("unlimited", at_least_one, "a number of 1 or more"),
       HARENA_OPTION(decoded_ratio_max, v.unset ? kUnlimitedRatio : v.real)},
      {"decoded_floor_bytes", Section::kMethod, Size("", 1),
       HARENA_OPTION(decoded_floor_bytes, static_cast<size_t>(v.integer))},
      {"depth_max", Section::kMethod, Count("unlimited", 1, kDepthLevelsMax),
       HARENA_OPTION(depth_max, static_cast<int>(v.integer))},
      {"first_block_bytes", Section::kMethod, Size("auto", 1),
       HARENA_OPTION(first_block_bytes, static_cast<size_t>(v.integer))},
      {"first_block_bytes_max", Section::kMethod, Size("", 1),
       HARENA_OPTION(first_block_bytes_max, static_cast<size_t>(v.integer))},
      {"first_block_percentile", Section::kMethod,
       Real("", percent, "a number above 0 and up to 100"),
       HARENA_OPTION(first_block_percentile, v.real)},
      {"quarantine_one_in", Section::kMethod, Count("", 0, kCountMax),
       HARENA_OPTION(quarantine_one_in, static_cast<size_t>(v.integer))},
      {"reuse_instances_max", Section::kMethod, Count("", 0, kCountMax),
       HARENA_OPTION(reuse_instances_max, static_cast<size_t>(v.integer))},
      {"reuse_bytes_max", Section::kMethod, Size("", 1),
       HARENA_OPTION(reuse_bytes_max, static_cast<size_t>(v.integer))},
      {"reuse_growth_max", Section::kMethod, Real("", above_one, "a number above 1"),
       HARENA_OPTION(reuse_growth_max, v.real)},
      {kProcessBytesMaxKey, Section::kProcess, Size("unlimited", 1)},
      {kRetainedBytesMaxKey, Section::kPagePool, Size("", 0)},
      {kDecayAfterKey, Section::kPagePool, Duration()},
  };
  return keys;
}
#undef HARENA_OPTION

const Key* Find(std::string_view name) {
  for (const Key& key : Schema()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace

const std::vector<std::string>& Keys(Section section) {
  static const auto& by_section = *[] {
    auto* names = new std::array<std::vector<std::string>, 3>;
    for (const Key& key : Schema()) (*names)[static_cast<size_t>(key.section)].push_back(key.name);
    return names;
  }();
  return by_section[static_cast<size_t>(section)];
}

const std::vector<std::string>& AllKeys() {
  static const auto& all = *[] {
    auto* names = new std::vector<std::string>;
    for (const Key& key : Schema()) names->push_back(key.name);
    return names;
  }();
  return all;
}

std::optional<Value> ReadValue(std::string_view key, std::string_view text, const Place& place,
                               Problems& problems) {
  const Kind& kind = Find(key)->kind;
  Value value{.text = std::string(text), .place = place};
  if (text.empty()) {
    Add(problems, place, std::string(key) + " has no value; give it one, or leave the key out");
    return std::nullopt;
  }
  if (text == kind.unset) {
    value.unset = true;
    return value;
  }
  if (kind.read(text, value)) return value;
  Add(problems, place,
      std::string(key) + " is " + Quote(text) + "; write " + kind.want +
          (kind.unset.empty() ? "" : ", or " + kind.unset));
  return std::nullopt;
}

Settings Over(Settings below, const Settings& above) {
  for (const auto& [key, value] : above) below.insert_or_assign(key, value);
  return below;
}

Settings Only(const Settings& settings, Section section) {
  Settings chosen;
  for (const std::string& key : Keys(section)) {
    if (const auto found = settings.find(key); found != settings.end()) chosen.insert(*found);
  }
  return chosen;
}

void CheckPairs(const Settings& settings, const Settings& own, Problems& problems) {
  const auto mode = settings.find("mode");
  if (mode == settings.end() || mode->second.text != ToString(Mode::kHeap)) return;
  for (const char* name : {kRequestBytesMax, kDecodedRatioMax, kDepthMax}) {
    const auto limit = settings.find(name);
    if (limit == settings.end() || limit->second.unset) continue;
    const bool mode_here = own.contains("mode");
    if (!mode_here && !own.contains(name)) continue;
    const Place& at = mode_here ? mode->second.place : limit->second.place;
    Add(problems, at,
        "mode heap (" + mode->second.place.Short() + ") cannot hold " + name + " (" +
            limit->second.place.Short() + "); choose another mode, or write " + name +
            ": unlimited");
  }
}

void Lay(const Settings& settings, Options& options) {
  for (const Key& key : Schema()) {
    if (key.lay == nullptr) continue;
    if (const auto found = settings.find(key.name); found != settings.end()) {
      key.lay(found->second, options);
    }
  }
}

void CopyOption(std::string_view key, const Options& from, Options& to) {
  if (const Key* found = Find(key); found != nullptr && found->copy != nullptr) {
    found->copy(from, to);
  }
}

Place PlaceOfReason(const Settings& settings, std::string_view reason, std::string_view source) {
  const Value* named = nullptr;
  size_t first = std::string_view::npos;
  size_t length = 0;
  for (const auto& [key, value] : settings) {
    // A longer name that begins at the same place is the one that is meant.
    const size_t at = reason.find(key);
    if (at == std::string_view::npos || at > first || (at == first && key.size() < length))
      continue;
    named = &value;
    first = at;
    length = key.size();
  }
  return named != nullptr ? named->place : Place{.source = std::string(source)};
}

}  // namespace harena::config
