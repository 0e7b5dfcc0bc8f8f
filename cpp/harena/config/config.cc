#include "harena/config/config.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace harena::config {
namespace {

constexpr char kEnvironmentPrefix[] = "HARENA_";

std::string VariableOf(std::string_view key) {
  std::string name = kEnvironmentPrefix;
  for (const char c : key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

}  // namespace

std::vector<Override> FromEnvironment(const std::function<const char*(const char*)>& lookup) {
  std::vector<Override> overrides;
  for (const std::string& key : AllKeys()) {
    const std::string name = VariableOf(key);
    const char* text = lookup(name.c_str());
    if (text != nullptr && *text != '\0') overrides.push_back({name, key, text});
  }
  return overrides;
}

std::vector<Override> FromEnvironment() {
  return FromEnvironment([](const char* name) -> const char* { return std::getenv(name); });
}

std::optional<Override> FromFlag(std::string_view source, std::string_view assignment) {
  const size_t sign = assignment.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  return Override{std::string(source), std::string(assignment.substr(0, sign)),
                  std::string(assignment.substr(sign + 1))};
}

std::optional<std::string> ReadFile(const std::string& path, Problems& problems) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileBytesMax + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    Add(problems, {.source = path},
        std::string("the file cannot be read: ") + std::strerror(errno));
    return std::nullopt;
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

std::optional<Config> Config::Load(const std::string& path, Problems& problems) {
  const auto text = ReadFile(path, problems);
  if (!text) return std::nullopt;
  return Parse(path, *text, problems);
}

std::optional<Config> Config::With(const std::vector<Override>& overrides,
                                   Problems& problems) const {
  Problems found;
  Config laid = *this;
  for (const Override& each : overrides) {
    const Place place{.source = each.source};
    if (std::find(AllKeys().begin(), AllKeys().end(), each.key) == AllKeys().end()) {
      AddUnknown(found, place, "setting", each.key, AllKeys());
    } else if (auto value = ReadValue(each.key, each.text, place, found)) {
      laid.overrides_.insert_or_assign(each.key, *std::move(value));
    }
  }
  laid.Check(found);
  if (found.empty()) return laid;
  Sort(found);
  problems.insert(problems.end(), found.begin(), found.end());
  return std::nullopt;
}

std::vector<std::string> Config::methods() const {
  std::vector<std::string> names;
  names.reserve(methods_.size());
  for (const Method& method : methods_) names.push_back(method.name);
  return names;
}

const Config::Method* Config::Find(std::string_view method) const {
  for (const Method& each : methods_) {
    if (each.name == method) return &each;
  }
  return nullptr;
}

Place Config::place(std::string_view method) const {
  const Method* found = Find(method);
  return found != nullptr ? found->place : Place{.source = name_};
}

Settings Config::For(std::string_view method) const {
  Settings settings = defaults_;
  if (const Method* own = Find(method)) settings = Over(std::move(settings), own->settings);
  return Over(std::move(settings), Only(overrides_, Section::kMethod));
}

Settings Config::Process() const {
  Settings settings = Over(process_, Only(overrides_, Section::kProcess));
  return Over(std::move(settings), Only(overrides_, Section::kPagePool));
}

void Config::Check(Problems& problems) const {
  CheckPairs(For(""), Over(defaults_, overrides_), problems);
  for (const Method& method : methods_) CheckPairs(For(method.name), method.settings, problems);
}

std::optional<Options> Config::OptionsFor(std::string_view method, Options code,
                                          Problems& problems) const {
  const Settings settings = For(method);
  Lay(settings, code);
  const auto reason = code.Validate();
  if (!reason) return code;
  Add(problems, PlaceOfReason(settings, *reason, name_),
      (method.empty() ? "" : std::string(method) + ": ") + *reason);
  return std::nullopt;
}

}  // namespace harena::config
