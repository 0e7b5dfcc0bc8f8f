#include "tests/faults/own_frames.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace harena::faults {
namespace {

enum class Owner { kNobody, kOurs, kFramework, kClient };

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> starts) {
  for (const std::string_view start : starts) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

std::string Demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : symbol;
}

Owner OwnerOfFunction(std::string_view name) {
  if (name.starts_with("harena::faults::")) return Owner::kNobody;  // the failing malloc itself
  // The C library ends the process itself when it cannot note a thread_local's destructor.
  if (name.starts_with("__cxa_thread_atexit")) return Owner::kFramework;
  // What gRPC calls for a request of ours, in a namespace where it has to stand.
  if (name.find("SerializationTraits<harena::") != std::string_view::npos) return Owner::kOurs;
  if (StartsWithAny(name, {"grpc::", "brpc::", "trpc::", "bthread::", "butil::"})) {
    return Owner::kFramework;
  }
  if (StartsWithAny(name, {"harena::", "non-virtual thunk to harena::"})) return Owner::kOurs;
  return Owner::kNobody;
}

Owner OwnerOf(void* frame) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::unordered_map<void*, Owner>;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(frame, Owner::kNobody);
  if (!is_new) return entry->second;
  Dl_info info{};
  // A return address may stand behind the end of its function.
  if (dladdr(static_cast<char*>(frame) - 1, &info) == 0) return Owner::kNobody;
  const std::string name = info.dli_sname == nullptr ? "" : Demangled(info.dli_sname);
  // What brpc does with a response: in the client, which the test is too.
  if (name.starts_with("brpc::policy::ProcessRpcResponse")) return entry->second = Owner::kClient;
  if (ContainsAny(info.dli_fname, {"libgrpc", "libgpr", "libbrpc", "libtrpc"})) {
    return entry->second = Owner::kFramework;
  }
  return entry->second = OwnerOfFunction(name);
}

}  // namespace

bool IsOwnAllocation(void* const* frames, int frame_count) {
  Owner first = Owner::kNobody;
  for (int i = 0; i < frame_count; ++i) {
    const Owner owner = OwnerOf(frames[i]);
    if (owner == Owner::kClient) return false;
    if (first == Owner::kNobody) first = owner;
  }
  return first == Owner::kOurs;
}

}  // namespace harena::faults
