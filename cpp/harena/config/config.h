// Harena's settings from a YAML file, the environment and flags. docs/configuration.md is the
// guide.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harena/config/problem.h"
#include "harena/config/settings.h"
#include "harena/scope/options.h"

namespace harena::config {

/// How large a file may be, in bytes.
inline constexpr size_t kFileBytesMax = size_t{1} << 20;
/// The environment's name for the file.
inline constexpr char kPathVariable[] = "HARENA_CONFIG";

/// A setting that is laid over those of a file: from the environment, or a flag.
struct Override {
  std::string source;  ///< "HARENA_MODE", for problems.
  std::string key;     ///< "mode"
  std::string text;
};

/// What the variables HARENA_MODE, HARENA_REQUEST_BYTES_MAX and so on say. An empty one says
/// nothing. `lookup` answers null for one that is not set.
std::vector<Override> FromEnvironment(const std::function<const char*(const char*)>& lookup);
/// The same of the process's environment.
/// Thread rule: as getenv(): nobody sets variables meanwhile.
std::vector<Override> FromEnvironment();
/// "mode=pages", as a flag of any library brings it; `source` is what problems call it: "--harena".
/// nullopt where there is no "=".
std::optional<Override> FromFlag(std::string_view source, std::string_view assignment);

/// A file's content, up to a byte more than is read; or nullopt, and the problems say why.
std::optional<std::string> ReadFile(const std::string& path, Problems& problems);

/// What a file, the environment and flags say together. It does not change.
/// Thread rule: any thread.
class Config {
 public:
  /// No setting at all.
  Config() = default;

  /// Reads a file, or says what is wrong with it.
  static std::optional<Config> Load(const std::string& path, Problems& problems);
  /// Reads a file's content; `name` is what problems call it.
  static std::optional<Config> Parse(std::string_view name, std::string_view text,
                                     Problems& problems);
  /// These settings with the overrides laid over all of them, those of single methods too; later
  /// ones win. nullopt when that is not possible, and the problems say why.
  std::optional<Config> With(const std::vector<Override>& overrides, Problems& problems) const;

  /// The file's name.
  const std::string& name() const noexcept { return name_; }
  /// The methods that have settings of their own, in the order of the file.
  std::vector<std::string> methods() const;
  /// Where a method's own settings stand.
  Place place(std::string_view method) const;
  /// The settings of a method by its full name: the defaults, with its own and the overrides laid
  /// over them.
  Settings For(std::string_view method) const;
  /// What no method has: process_bytes_max, and the page pool's.
  Settings Process() const;

  /// The options of a method or server that is about to be made: those of the code with the
  /// settings laid over them, also those that cannot change later. An empty name is for a whole
  /// server. nullopt when they cannot be together, and the problems say why.
  std::optional<Options> OptionsFor(std::string_view method, Options code,
                                    Problems& problems) const;

 private:
  friend class Reader;

  struct Method {
    std::string name;
    Place place;
    Settings settings;
  };

  const Method* Find(std::string_view method) const;
  void Check(Problems& problems) const;

  std::string name_;
  Settings process_;  // the page pool's too
  Settings defaults_;
  Settings overrides_;
  std::vector<Method> methods_;
};

}  // namespace harena::config
