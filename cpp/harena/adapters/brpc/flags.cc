#include "harena/adapters/brpc/flags.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gflags/gflags.h>

#include "harena/adapters/brpc/message_factory.h"
#include "harena/base/fork_mutex.h"
#include "harena/base/log.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"

DEFINE_string(
    harena_mode, "",
    "How messages get their memory: heap, arena, pages, reuse or codec, for every method "
    "of every server with a harena::brpc::MessageFactory. Empty: as the program says. May "
    "be changed while running");
DEFINE_uint64(harena_request_bytes_max, 0,
              "Bytes that one request may take. 0: as the program says. May be changed while "
              "running");
DEFINE_uint64(harena_process_bytes_max, 0,
              "Bytes that all of Harena's pools and arenas may take together. 0: as the program "
              "says. May be changed while running");
DEFINE_uint64(
    harena_reuse_instances_max, 0,
    "Mode reuse: message instances kept per method when idle. 0: as the program says. For "
    "servers that start after a change");
DEFINE_uint64(harena_page_bytes, 0,
              "Bytes of a page, a power of two from 4096 to 2 MiB. 0: 65536. Fixed once a server "
              "has started");
DEFINE_uint64(harena_thread_cache_bytes_max, 0,
              "Bytes of free pages that one thread may keep. 0: 4 MiB. Fixed once a server has "
              "started");
DEFINE_uint64(
    harena_retained_bytes_max, 0,
    "Bytes of free pages that the process keeps for all threads. 0: 256 MiB. Fixed once a "
    "server has started");

namespace harena::brpc {
namespace {

// What the flags say, and who follows them. The flags' own variables are gflags' to write, at any
// moment; these copies are written by the validators, which see each value before it is set.
struct State {
  ForkMutex mutex;
  std::vector<MessageFactory*> followers;
  std::optional<Mode> mode;
  size_t request_bytes_max = 0;
  size_t process_bytes_max = 0;
  size_t reuse_instances_max = 0;
  PagePoolOptions pool_options;
  bool own_pool = false;  // a flag says something of it
  bool pool_is_made = false;
  PagePool* pool = nullptr;  // null for PagePool::Default()

  // Validators run during the program's static initialisation already.
  static State& Get() {
    static auto& state = *new State;
    return state;
  }

  PagePool* Pool() {
    if (own_pool && !pool_is_made) pool = new PagePool(pool_options);  // as Default(), it stays
    pool_is_made = true;
    return pool;
  }
};

bool Refuse(const char* flag, const std::string& problem) {
  Log(Severity::kWarning, std::string("--") + flag + ": " + problem);
  return false;
}

// Gives a change to all servers. One that refuses it stops it there.
template <typename Change>
bool GiveToAll(const State& state, const char* flag, Change change) {
  for (MessageFactory* factory : state.followers) {
    if (auto problem = change(*factory)) return Refuse(flag, *problem);
  }
  return true;
}

bool ChangeMode(const char* flag, const std::string& value) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  const std::optional<Mode> mode = ParseMode(value);
  if (!mode && !value.empty()) {
    return Refuse(flag, "\"" + value + "\" is no mode; there are heap, arena, pages, reuse, codec");
  }
  if (mode &&
      !GiveToAll(state, flag, [&](MessageFactory& factory) { return factory.SetMode(*mode); })) {
    return false;
  }
  state.mode = mode;
  return true;
}

bool ChangeRequestBytesMax(const char* flag, google::uint64 bytes) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  if (bytes != 0 && !GiveToAll(state, flag, [&](MessageFactory& factory) {
        return factory.SetRequestBytesMax(bytes);
      })) {
    return false;
  }
  state.request_bytes_max = bytes;
  return true;
}

bool ChangeProcessBytesMax(const char*, google::uint64 bytes) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  if (bytes != 0) ProcessBudget().set_bytes_max(bytes);
  if (bytes == 0 && state.process_bytes_max != 0) ProcessBudget().set_bytes_max(kUnlimitedBytes);
  state.process_bytes_max = bytes;
  return true;
}

bool ChangeReuseInstancesMax(const char*, google::uint64 count) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  state.reuse_instances_max = count;
  return true;
}

template <size_t PagePoolOptions::*kField>
bool ChangePool(const char* flag, google::uint64 bytes) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  PagePoolOptions changed = state.pool_options;
  changed.*kField = bytes != 0 ? bytes : PagePoolOptions().*kField;
  if (changed.*kField == state.pool_options.*kField) return true;
  if (state.pool_is_made) return Refuse(flag, "fixed since the first server has started");
  if (auto problem = changed.Validate()) return Refuse(flag, *problem);
  state.pool_options = changed;
  state.own_pool = true;
  return true;
}

DEFINE_validator(harena_mode, &ChangeMode);
DEFINE_validator(harena_request_bytes_max, &ChangeRequestBytesMax);
DEFINE_validator(harena_process_bytes_max, &ChangeProcessBytesMax);
DEFINE_validator(harena_reuse_instances_max, &ChangeReuseInstancesMax);
DEFINE_validator(harena_page_bytes, &ChangePool<&PagePoolOptions::page_bytes>);
DEFINE_validator(harena_thread_cache_bytes_max,
                 &ChangePool<&PagePoolOptions::thread_cache_bytes_max>);
DEFINE_validator(harena_retained_bytes_max, &ChangePool<&PagePoolOptions::retained_bytes_max>);

}  // namespace

void Flags::ApplyTo(FactoryOptions& options) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  const auto apply = [&](Options& own) {
    if (state.mode) own.mode = *state.mode;
    if (state.request_bytes_max != 0) own.request_bytes_max = state.request_bytes_max;
    if (state.reuse_instances_max != 0) own.reuse_instances_max = state.reuse_instances_max;
    if (own.page_pool == nullptr) own.page_pool = state.Pool();
  };
  if (state.process_bytes_max != 0) options.process_bytes_max = state.process_bytes_max;
  apply(options.defaults);
  for (auto& [name, own] : options.methods) apply(own);
}

void Flags::Follow(MessageFactory& factory) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  state.followers.push_back(&factory);
}

void Flags::Unfollow(MessageFactory& factory) {
  State& state = State::Get();
  std::lock_guard lock(state.mutex);
  std::erase(state.followers, &factory);
}

}  // namespace harena::brpc
