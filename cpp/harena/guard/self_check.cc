#include "harena/guard/self_check.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "harena/base/poison.h"
#include "harena/guard/fault_reporter.h"
#include "harena/guard/quarantine.h"

namespace harena {
namespace {

constexpr std::string_view kName = "self-check";

// Has the system copy between places that may not be ours any more: it answers EFAULT where this
// program would fault. Nothing where it cannot be asked.
std::optional<bool> CopyBySystem(char* to, const char* from, size_t bytes) noexcept {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) return std::nullopt;
  const auto all = static_cast<ssize_t>(bytes);
  const bool copied = write(ends[1], from, bytes) == all && read(ends[0], to, bytes) == all;
  close(ends[0]);
  close(ends[1]);
  return copied;
}

// Whether one byte can be read, and written. Unknown counts as yes, which is not "guarded".
struct Touch {
  bool reads;
  bool writes;
};

Touch TryTouch(char* address) noexcept {
  char byte = 0;
  const bool reads = CopyBySystem(&byte, address, 1).value_or(true);
  return {reads, CopyBySystem(address, &byte, 1).value_or(true)};
}

// What the system reads at `address`; nothing where it cannot.
std::optional<std::array<char, 16>> Peek(const char* address) noexcept {
  std::array<char, 16> bytes;
  const bool got = CopyBySystem(bytes.data(), address, bytes.size()).value_or(false);
  return got ? std::optional(bytes) : std::nullopt;
}

bool Guards(const Block& block) noexcept {
  char* const begin = static_cast<char*>(block.data);
  for (char* const outside : {begin - 1, begin + block.bytes}) {
    const bool poisoned = IsPoisoned(outside);
    Unpoison(outside, 1);  // The sanitizer watches calls of the system too.
    const Touch touch = TryTouch(outside);
    if (poisoned) Poison(outside, 1);
    if (touch.reads || touch.writes) return false;
  }
  return true;
}

// One block there and back. False when it could not be had.
bool TryBlock(PagePool& pool, MemoryCheck& check) noexcept {
  constexpr char kWritten = 0x5e;
  const Block block = pool.TryAllocate(1);
  if (!block) return false;
  check.guard_pages.works = check.guard_pages.on && Guards(block);
  char* const data = static_cast<char*>(block.data);
  char* const last = data + block.bytes - 16;
  std::memset(data, kWritten, 16);
  std::memset(last, kWritten, 16);
  pool.Free(data, block.bytes);
  check.poisons = IsPoisoned(data);
  Unpoison(data, block.bytes);
  const auto head = Peek(data);
  const auto tail = Peek(last);
  Poison(data, block.bytes);
  const auto is = [](const auto& bytes, char wanted) {
    return bytes && std::count(bytes->begin(), bytes->end(), wanted) == 16;
  };
  check.wipe_on_release.works = check.wipe_on_release.on && is(tail, 0);
  check.check_free_lists.works =
      check.check_free_lists.on && head && !is(head, kWritten) && !is(head, 0);
  return true;
}

void TryPool(PagePool& pool, MemoryCheck& check) noexcept {
  check.guard_pages.on = pool.options().guard_pages;
  check.wipe_on_release.on = pool.options().wipe_on_release;
  check.check_free_lists.on = pool.options().check_free_lists;
  // Another thread may have the block by the time it is looked at.
  for (int i = 0; i < 4; ++i) {
    if (TryBlock(pool, check) && check.wipe_on_release.on == check.wipe_on_release.works &&
        check.check_free_lists.on == check.check_free_lists.works) {
      return;
    }
  }
}

std::string TextOf(const MemoryCheck& check) {
  std::string text;
  const auto add = [&text](const MemoryCheck::Part& part, std::string_view name) {
    if (!part.on) return;
    text += text.empty() ? "" : " + ";
    text += name;
    if (!part.works) text += " FAILED";
  };
  add(check.guard_pages, "guard pages");
  add(check.wipe_on_release, "wiped on release");
  add(check.check_free_lists, "free lists checked");
  return text.empty() ? "off" : text;
}

}  // namespace

MemoryCheck CheckMemory(PagePool& pool, CheckQuarantine check_quarantine) noexcept {
  MemoryCheck check;
  check.asan = HARENA_ASAN != 0;
  TryPool(pool, check);
  check.fault_reporter = FaultReporterInstalled();
  check.quarantine =
      check_quarantine == CheckQuarantine::kYes && pool.options().quarantine_bytes_max != 0;
  PagePool* const quarantine = check.quarantine ? guard::QuarantineOf(pool) : nullptr;
  if (quarantine == nullptr) return check;
  const Block block = quarantine->TryAllocate(1);
  if (!block) return check;
  char* const data = static_cast<char*>(block.data);
  data[0] = data[block.bytes - 1] = 1;
  const Touch before = TryTouch(data);
  {
    ScopeEnd end;
    end.Note(kName, 1);
    const ScopeEndFrame frame(end);
    quarantine->Free(data, block.bytes);
  }
  // The sanitizer watches calls of the system too.
  Unpoison(data, block.bytes);
  const Touch first = TryTouch(data);
  const Touch last = TryTouch(data + block.bytes - 1);
  Poison(data, block.bytes);
  check.guards =
      before.reads && before.writes && !first.reads && !first.writes && !last.reads && !last.writes;
  const FaultyAddress found = ExplainAddress(data + block.bytes / 2);
  check.explains = check.guards && found.kind == FaultyAddress::Kind::kEnded &&
                   found.offset == block.bytes / 2 &&
                   std::string_view(found.end->name.data()) == kName;
  return check;
}

std::string MemoryCheck::ToText() const {
  std::string text = "ASan poisoning ";
  text += asan ? (poisons ? "on" : "FAILED") : "off (not built with it)";
  text += ", quarantine ";
  text += !quarantine ? "off" : (guards && explains ? "works" : "FAILED");
  text += ", fault reporter ";
  text += fault_reporter ? "installed" : "not installed";
  return text + ", hardening " + TextOf(*this);
}

}  // namespace harena
