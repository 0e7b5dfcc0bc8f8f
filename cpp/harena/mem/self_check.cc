#include "harena/mem/self_check.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "harena/base/poison.h"
#include "harena/mem/fault_reporter.h"

namespace harena {
namespace {

constexpr std::string_view kName = "self-check";

// Whether the system can read from, and write to, one byte: it answers EFAULT where this program
// would fault.
struct Touch {
  bool reads = false;
  bool writes = false;
};

Touch TryTouch(char* address) noexcept {
  Touch touch;
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) return {true, true};  // Unknown, which is not "guarded".
  touch.reads = write(ends[1], address, 1) == 1;
  const char byte = 0;
  touch.writes = (touch.reads || write(ends[1], &byte, 1) == 1) && read(ends[0], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return touch;
}

bool Poisons(PagePool& pool) noexcept {
  const Block block = pool.TryAllocate(1);
  if (!block) return false;
  pool.Free(block.data, block.bytes);
  return IsPoisoned(block.data);
}

}  // namespace

MemoryCheck CheckMemory(PagePool& pool) noexcept {
  MemoryCheck check;
  check.asan = HARENA_ASAN != 0;
  check.poisons = Poisons(pool);
  check.fault_reporter = FaultReporterInstalled();
  check.quarantine = pool.options().quarantine_bytes_max != 0;
  PagePool* const quarantine = pool.Quarantine();
  if (quarantine == nullptr) return check;
  const ScopeEndFrame frame(kName, 1);
  const Block block = quarantine->TryAllocate(1);
  if (!block) return check;
  char* const data = static_cast<char*>(block.data);
  data[0] = data[block.bytes - 1] = 1;
  const Touch before = TryTouch(data);
  quarantine->Free(data, block.bytes);
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
  return text;
}

}  // namespace harena
