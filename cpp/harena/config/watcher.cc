#include "harena/config/watcher.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "harena/base/log.h"

namespace harena::config {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSettleFor{50};  // a file is read when it was left alone for so long
constexpr milliseconds kSettleForMax{1'000};
constexpr milliseconds kLookForNewEvery{1'000};  // methods that are served since

}  // namespace

std::unique_ptr<Watcher> Watcher::Start(const std::string& path, WatcherOptions options,
                                        Problems& problems) {
  options.poll_every = std::max(options.poll_every, milliseconds(1));
  std::unique_ptr<Watcher> watcher(new Watcher(path, std::move(options)));
  watcher->Follow();
  if (!watcher->Reload()) {
    problems = watcher->problems();
    return nullptr;
  }
  watcher->thread_ = std::thread([raw = watcher.get()] { raw->Run(); });
  return watcher;
}

Watcher::~Watcher() {
  stop_ = true;
  folders_.Wake();
  if (thread_.joinable()) thread_.join();
}

Config Watcher::config() const {
  std::lock_guard lock(mutex_);
  return config_;
}

Problems Watcher::problems() const {
  std::lock_guard lock(mutex_);
  return problems_;
}

uint64_t Watcher::reloads() const {
  std::lock_guard lock(mutex_);
  return reloads_;
}

void Watcher::Run() {
  Clock::time_point read_at = Clock::now() + options_.poll_every;
  Clock::time_point look_at = Clock::now() + kLookForNewEvery;
  Clock::time_point settled_by =
      Clock::time_point::max();  // even where something happens all the time
  while (!stop_) {
    const auto time = std::min(read_at, look_at) - Clock::now();
    const auto wait = std::chrono::ceil<milliseconds>(std::max(time, Clock::duration::zero()));
    const bool happened = folders_.Wait(wait);
    const Clock::time_point now = Clock::now();
    if (happened) {
      if (settled_by == Clock::time_point::max()) settled_by = now + kSettleForMax;
      read_at = std::min<Clock::time_point>(now + kSettleFor, settled_by);
    }
    if (now >= look_at) {
      LookForNew();
      look_at = now + kLookForNewEvery;
    }
    if (now < read_at || stop_) continue;
    Reload();
    Follow();
    read_at = Clock::now() + options_.poll_every;
    settled_by = Clock::time_point::max();
  }
}

// The folders that the file and what it links to are in, not the file: its replacement is another
// one.
void Watcher::Follow() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::set<std::string> folders;
  for (const fs::path& path : {fs::absolute(path_, ignored), fs::canonical(path_, ignored)}) {
    if (!path.empty()) folders.insert(path.parent_path());
  }
  folders_.Follow(folders);
}

void Watcher::LookForNew() {
  const Problems problems = applier_.ApplyToNew();
  if (problems.empty()) return;
  Log(Severity::kWarning, "methods keep the settings of their code: " + ToString(problems));
}

// Whether the file, as it is now, is in force.
bool Watcher::Reload() {
  Problems problems;
  auto text = ReadFile(path_, problems);
  if (!text) {
    if (text_ || problems != this->problems()) Refuse(problems);
    text_.reset();
    return false;
  }
  if (text == text_) return this->problems().empty();
  text_ = std::move(text);
  auto config = Config::Parse(path_, *text_, problems);
  if (config) config = config->With(options_.overrides, problems);
  if (config) problems = applier_.Apply(*config);
  if (!problems.empty()) {
    Refuse(problems);
    return false;
  }
  for (const Problem& warning : Applier::Warnings(*config)) {
    Log(Severity::kWarning, warning.ToString());
  }
  Log(Severity::kInfo, path_ + ": the settings are in force");
  std::lock_guard lock(mutex_);
  config_ = *std::move(config);
  problems_.clear();
  ++reloads_;
  return true;
}

void Watcher::Refuse(const Problems& problems) {
  Log(Severity::kWarning,
      "the file is refused, the settings stay as they are: " + ToString(problems));
  std::lock_guard lock(mutex_);
  problems_ = problems;
}

}  // namespace harena::config
