// Settings by the names of their keys, and which keys there are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harena/config/problem.h"
#include "harena/scope/options.h"

namespace harena::config {

inline constexpr char kProcessBytesMaxKey[] = "process_bytes_max";
inline constexpr char kRetainedBytesMaxKey[] = "retained_bytes_max";
inline constexpr char kDecayAfterKey[] = "decay_after";

/// One setting: its text as it was written, and what that means.
struct Value {
  std::string text;
  Place place;
  /// The text was "unlimited" or "auto"; then there is no number.
  bool unset = false;
  /// Of sizes (bytes), counts, and durations (milliseconds).
  int64_t integer = 0;
  /// Of ratios and percentages.
  double real = 0;
};

/// What is not there is as the code has it.
using Settings = std::map<std::string, Value, std::less<>>;

/// Where a key may stand.
enum class Section { kProcess, kPagePool, kMethod };

/// The names of a section's keys, in the order of docs/configuration.md.
const std::vector<std::string>& Keys(Section section);
/// Of all sections: what the environment and flags may set.
const std::vector<std::string>& AllKeys();

/// The value of a text, or nullopt and a problem more.
/// REQUIRES: AllKeys() has the key.
std::optional<Value> ReadValue(std::string_view key, std::string_view text, const Place& place,
                               Problems& problems);

/// `below`, with the settings of `above` in place of what both have.
Settings Over(Settings below, const Settings& above);
/// Those of a section.
Settings Only(const Settings& settings, Section section);

/// Adds the settings that cannot be together, as far as one of them is of the section at hand:
/// `own`.
void CheckPairs(const Settings& settings, const Settings& own, Problems& problems);

/// Sets the options that the settings have.
void Lay(const Settings& settings, Options& options);
/// Sets the option of a method's key as `from` has it.
void CopyOption(std::string_view key, const Options& from, Options& to);

/// Where the setting stands that a sentence about options names; the source alone when it names
/// none.
Place PlaceOfReason(const Settings& settings, std::string_view reason, std::string_view source);

}  // namespace harena::config
