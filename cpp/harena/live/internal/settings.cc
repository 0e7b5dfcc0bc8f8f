#include "harena/live/internal/settings.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "harena/mem/budget.h"
#include "harena/pb/admin/served_methods.h"
#include "harena/scope/decode_limits.h"

namespace harena::live::internal {
namespace {

constexpr int64_t kWholeMax = std::numeric_limits<int64_t>::max();

template <typename Of>
struct Setting {
  const char* name;
  Json (*get)(const Of&);
  void (*set)(Of&, const Json&);
  bool (*is)(const Json&);
  const char* want;
};

Json BytesOrNull(size_t bytes) { return bytes == kUnlimitedBytes ? Json() : Json(bytes); }
size_t BytesOf(const Json& value) {
  return value.is_null() ? kUnlimitedBytes : value.get<size_t>();
}

bool IsWhole(const Json& value, int64_t least, int64_t most) {
  if (value.is_number_unsigned()) {
    const auto n = value.get<uint64_t>();
    return n >= static_cast<uint64_t>(least) && n <= static_cast<uint64_t>(most);
  }
  return false;  // a negative number, or none
}
bool IsSize(const Json& value) { return IsWhole(value, 1, kWholeMax); }
bool IsSizeOrNull(const Json& value) { return value.is_null() || IsSize(value); }

constexpr char kWantSizeOrNull[] = "a whole number of bytes, 1 or more, or null for no limit";

static_assert(kDepthLevelsMax == 100, "what depth_max wants is told below");

const Setting<Options> kMethodSettings[] = {
    {"mode", [](const Options& o) { return Json(ToString(o.mode)); },
     [](Options& o, const Json& v) { o.mode = *ParseMode(v.get_ref<const std::string&>()); },
     [](const Json& v) {
       return v.is_string() && ParseMode(v.get_ref<const std::string&>()).has_value();
     },
     "\"heap\", \"arena\", \"pages\", \"reuse\" or \"codec\""},
    {"request_bytes_max", [](const Options& o) { return BytesOrNull(o.request_bytes_max); },
     [](Options& o, const Json& v) { o.request_bytes_max = BytesOf(v); }, &IsSizeOrNull,
     kWantSizeOrNull},
    {"decoded_ratio_max",
     [](const Options& o) {
       return o.decode_limits().has_ratio() ? Json(o.decoded_ratio_max) : Json();
     },
     [](Options& o, const Json& v) { o.decoded_ratio_max = v.is_null() ? 0 : v.get<double>(); },
     [](const Json& v) { return v.is_null() || (v.is_number() && v.get<double>() >= 1); },
     "a number, 1 or more, of bytes per byte of the request, or null for the default"},
    {"decoded_floor_bytes", [](const Options& o) { return Json(o.decoded_floor_bytes); },
     [](Options& o, const Json& v) { o.decoded_floor_bytes = v.get<size_t>(); }, &IsSize,
     "a whole number of bytes, 1 or more"},
    {"depth_max", [](const Options& o) { return o.depth_max == 0 ? Json() : Json(o.depth_max); },
     [](Options& o, const Json& v) { o.depth_max = v.is_null() ? 0 : v.get<int>(); },
     [](const Json& v) { return v.is_null() || IsWhole(v, 1, kDepthLevelsMax); },
     "a whole number of levels from 1 to 100, or null for protobuf's own limit"},
    {"first_block_bytes",
     [](const Options& o) { return o.first_block_bytes == 0 ? Json() : Json(o.first_block_bytes); },
     [](Options& o, const Json& v) { o.first_block_bytes = v.is_null() ? 0 : v.get<size_t>(); },
     &IsSizeOrNull, "a whole number of bytes, 1 or more, or null to learn them"},
};

const Setting<Budget> kProcessSettings[] = {
    {"process_bytes_max", [](const Budget& b) { return BytesOrNull(b.bytes_max()); },
     [](Budget& b, const Json& v) { b.set_bytes_max(BytesOf(v)); }, &IsSizeOrNull, kWantSizeOrNull},
};

const Setting<PagePoolRetention> kPoolSettings[] = {
    {"retained_bytes_max",
     [](const PagePoolRetention& r) { return BytesOrNull(r.retained_bytes_max); },
     [](PagePoolRetention& r, const Json& v) { r.retained_bytes_max = BytesOf(v); },
     [](const Json& v) { return v.is_null() || IsWhole(v, 0, kWholeMax); },
     "a whole number of bytes, 0 or more, or null to keep all"},
    {"decay_after_ms", [](const PagePoolRetention& r) { return Json(r.decay_after.count()); },
     [](PagePoolRetention& r, const Json& v) {
       r.decay_after = std::chrono::milliseconds(v.get<int64_t>());
     },
     // A hundred years, so that sums with it cannot overflow.
     [](const Json& v) { return IsWhole(v, 0, int64_t{100} * 366 * 86'400'000); },
     "a whole number of milliseconds, 0 or more; 0 keeps free pages for ever"},
};

template <typename Of, size_t kCount>
const Setting<Of>* Find(const Setting<Of> (&settings)[kCount], const std::string& name) {
  const auto* found = std::find_if(std::begin(settings), std::end(settings),
                                   [&](const Setting<Of>& s) { return s.name == name; });
  return found == std::end(settings) ? nullptr : found;
}

template <typename Of>
Problem CheckOne(const Setting<Of>& setting, const Json& value) {
  if (setting.is(value)) return std::nullopt;
  return std::string(setting.name) + " cannot be that: it is " +
         value.dump(-1, ' ', true, Json::error_handler_t::replace) + "; want " + setting.want;
}

/// Edits what the wanted values name.
template <typename Of, size_t kCount>
void Edit(const Setting<Of> (&settings)[kCount], const std::map<std::string, Json>& values,
          Of& of) {
  for (const auto& [name, value] : values) {
    if (const Setting<Of>* setting = Find(settings, name)) setting->set(of, value);
  }
}

std::string Known() {
  std::string names;
  const auto add = [&](const auto& settings) {
    for (const auto& setting : settings)
      names += (names.empty() ? "" : ", ") + std::string(setting.name);
  };
  add(kMethodSettings);
  add(kProcessSettings);
  add(kPoolSettings);
  return names;
}

/// All servers' methods, or none and what is wrong.
Problem ApplyToMethods(const Wanted& wanted) {
  std::vector<pb::MethodChange> changes;
  std::set<std::string> names;
  const auto edit = [&](Options& options) { Edit(kMethodSettings, wanted.values, options); };
  pb::ForEachServedMethod([&](const auto& method, const pb::ServedMethods&) {
    names.insert(method->name());
    if (wanted.method.empty() || method->name() == wanted.method) {
      changes.push_back({.method = method, .edit = edit});
    }
  });
  if (changes.empty() && !wanted.method.empty()) {
    std::string there;
    for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
    return "no server of this process has a method \"" + wanted.method + "\"; there are " + there;
  }
  if (auto refused = pb::ChangeAll(changes)) return std::move(refused->reason);
  return std::nullopt;
}

/// Returns whether there is a pool of that name. Inside of the visit it stays.
bool VisitPool(const std::string& name, const std::function<void(PagePool&)>& visit) {
  bool found = false;
  pb::ForEachServedPool([&](PagePool& pool) {
    if (NameOf(pool) != name) return;
    found = true;
    visit(pool);
  });
  return found;
}

template <typename Of, size_t kCount>
bool NamesAny(const Setting<Of> (&settings)[kCount], const Wanted& wanted) {
  return std::any_of(wanted.values.begin(), wanted.values.end(),
                     [&](const auto& value) { return Find(settings, value.first) != nullptr; });
}

}  // namespace

std::string NameOf(const PagePool& pool) {
  return &pool == &PagePool::Default() ? "default" : "pool " + std::to_string(pool.index());
}

Json SettingsOf(const Options& options) {
  Json settings = Json::object();
  for (const auto& setting : kMethodSettings) settings[setting.name] = setting.get(options);
  return settings;
}

std::map<Place, std::vector<Json>> ValuesNow() {
  std::map<Place, std::vector<Json>> values;
  for (const auto& setting : kProcessSettings) {
    values[{.framework = {}, .method = {}, .pool = {}, .setting = setting.name}] = {
        setting.get(ProcessBudget())};
  }
  pb::ForEachServedPool([&](const PagePool& pool) {
    for (const auto& setting : kPoolSettings) {
      values[{.framework = {}, .method = {}, .pool = NameOf(pool), .setting = setting.name}] = {
          setting.get(pool.retention())};
    }
  });
  pb::ForEachServedMethod([&](const auto& method, const pb::ServedMethods& served) {
    for (const auto& setting : kMethodSettings) {
      values[{.framework = std::string(served.framework()),
              .method = method->name(),
              .pool = {},
              .setting = setting.name}]
          .push_back(setting.get(method->scopes().options()));
    }
  });
  return values;
}

Problem Check(const Wanted& wanted) {
  if (wanted.values.empty()) {
    return R"(there is nothing to change; want {"method": NAME, "settings": {"mode": "codec"}})";
  }
  for (const auto& [name, value] : wanted.values) {
    const auto* of_method = Find(kMethodSettings, name);
    const auto* of_process = Find(kProcessSettings, name);
    const auto* of_pool = Find(kPoolSettings, name);
    Problem problem;
    if (of_method != nullptr) {
      problem = CheckOne(*of_method, value);
    } else if (of_process == nullptr && of_pool == nullptr) {
      problem =
          "no setting \"" + name + "\" can be changed while the server runs; there are " + Known();
    } else if (!wanted.method.empty()) {
      problem = name + " is the whole process's; set it with an empty method";
    } else {
      problem = of_pool != nullptr ? CheckOne(*of_pool, value) : CheckOne(*of_process, value);
    }
    if (problem) return problem;
  }
  return std::nullopt;
}

Problem Apply(const Wanted& wanted) {
  const std::string pool_name = wanted.pool.empty() ? "default" : wanted.pool;
  std::optional<PagePoolRetention> before;
  if (NamesAny(kPoolSettings, wanted)) {
    const bool found = VisitPool(pool_name, [&](PagePool& pool) {
      before = pool.retention();
      PagePoolRetention retention = *before;
      Edit(kPoolSettings, wanted.values, retention);
      pool.SetRetention(retention);
    });
    if (!found) return "no method of this process uses a page pool \"" + pool_name + "\"";
  }
  if (NamesAny(kMethodSettings, wanted)) {
    if (Problem problem = ApplyToMethods(wanted)) {
      if (before) VisitPool(pool_name, [&](PagePool& pool) { pool.SetRetention(*before); });
      return problem;
    }
  }
  Edit(kProcessSettings, wanted.values, ProcessBudget());
  return std::nullopt;
}

}  // namespace harena::live::internal
