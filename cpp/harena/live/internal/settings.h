// What may be changed while a server runs: reading it, checking what is asked for, doing it.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harena/mem/page_pool.h"
#include "harena/scope/options.h"

namespace harena::live::internal {

using Json = nlohmann::json;
/// A value, or what is wrong.
using Problem = std::optional<std::string>;

/// Where a setting has a value: in a method, else in a page pool, else in the process. Several
/// servers may have a method of one name.
struct Place {
  std::string framework, method, pool, setting;

  // What the compiler writes here compares with 0.
  auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// What a change is to do. An empty method is every method, and the process or a page pool.
struct Wanted {
  std::string method;
  std::string pool = {};                    ///< Empty for "default".
  std::map<std::string, Json> values = {};  ///< By setting.
};

/// A method's settings as JSON: null for "no limit".
Json SettingsOf(const Options& options);

/// Every setting's value, of each server that has it.
std::map<Place, std::vector<Json>> ValuesNow();

/// What is wrong with what is asked for, as far as its text tells.
Problem Check(const Wanted& wanted);
/// Does it, wherever the method is served: all of that, or nothing and why. REQUIRES: Check() finds
/// nothing.
Problem Apply(const Wanted& wanted);

/// "default" or "pool N".
std::string NameOf(const PagePool& pool);

}  // namespace harena::live::internal
