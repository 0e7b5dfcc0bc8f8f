#include "harena/pb/layout/cleanup_window.h"

#include <cstddef>
#include <new>
#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#if HARENA_CODEC
namespace harena::pb::layout {
namespace {

// A number that no field of the type has.
int FreeNumber(const google::protobuf::Descriptor& type) {
  for (int number = 1;; ++number) {
    const bool reserved = number >= google::protobuf::FieldDescriptor::kFirstReservedNumber &&
                          number <= google::protobuf::FieldDescriptor::kLastReservedNumber;
    if (!reserved && type.FindFieldByNumber(number) == nullptr && !type.IsExtensionNumber(number)) {
      return number;
    }
  }
}

// Containers and other things, noted in several blocks.
bool Try() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = 512;
  options.max_block_size = 512;
  Arena arena(options);
  CleanupMarks marks;
  size_t others = 0;
  std::vector<const UnknownFieldSet*> found;
  const auto look = [&] {
    others = 0;
    found.clear();
    return marks.Look(arena, &others, [&](const UnknownFieldSet& set) { found.push_back(&set); });
  };
  if (!ContainerEnds::Learn(google::protobuf::Empty::default_instance())) return false;
  if (!look() || !found.empty() || others != 0) return false;
  for (size_t round = 1; round <= 3; ++round) {
    std::vector<const UnknownFieldSet*> made;
    for (size_t i = 0; i < 7 * round; ++i) {
      auto* const message = Arena::CreateMessage<google::protobuf::Empty>(&arena);
      UnknownFieldSet* const set =
          google::protobuf::Empty::GetReflection()->MutableUnknownFields(message);
      for (size_t j = 0; j <= i; ++j) set->AddVarint(1, j);
      if (EntriesOf(*set).size() != i + 1 || EntriesOf(*set)[i].varint() != i) return false;
      made.push_back(set);
      for (size_t j = 0; j < i; ++j) Arena::Create<std::string>(&arena, "a string");
    }
    if (!look() || others != 7 * round * (7 * round - 1) / 2) return false;
    std::sort(found.begin(), found.end());
    std::sort(made.begin(), made.end());
    if (found != made) return false;
  }
  return look() && found.empty() && others == 0;
}

}  // namespace

bool ContainerEnds::Learn(const google::protobuf::Message& prototype) {
  Arena arena;
  google::protobuf::Message* const message = prototype.New(&arena);
  std::string wire;
  {
    google::protobuf::io::StringOutputStream stream(&wire);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(static_cast<uint32_t>(FreeNumber(*message->GetDescriptor())) << 3);
    out.WriteVarint32(1);
  }
  // As protobuf's parser, in that library, makes it.
  if (!message->ParsePartialFromString(wire)) return false;
  const UnknownFieldSet& fields = message->GetReflection()->GetUnknownFields(*message);
  if (fields.field_count() != 1 || EntriesOf(fields).size() != 1) return false;
  const void* const container =
      reinterpret_cast<const char*>(&fields) - offsetof(UnknownContainer, fields);
  bool learned = false;
  ForEachNote(arena, [&](const CleanupNode& node) {
    if (node.elem == container) learned = Add(node.cleanup);
  });
  return learned;
}

bool ContainerEnds::Add(End end) noexcept {
  for (std::atomic<End>& one : ends_) {
    End known = nullptr;
    if (one.compare_exchange_strong(known, end, std::memory_order_relaxed) || known == end) {
      return true;
    }
  }
  return false;
}

bool CleanupWindowWorks() noexcept {
  static const bool works = [] {
    try {
      return Try();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }();
  return works;
}

}  // namespace harena::pb::layout
#endif  // HARENA_CODEC
