// Where memory comes from. The only place below the scope layer where an allocation can fail.
#pragma once

#include <concepts>
#include <cstddef>

namespace harena {

/// What a page source must offer, so that a PagePool can be built on it.
///
/// `Map(bytes, alignment)`   returns `bytes` of readable, writable memory at a multiple of
///                           `alignment` (a power of two), or nullptr when there is none.
/// `Unmap(data, bytes)`      takes back exactly what one Map() returned.
/// `Decommit(data, bytes)`   gives the physical memory of a part back while the addresses stay
///                           valid; returns false when it could not. The contents are lost.
/// `AdviseHuge(data, bytes)` asks for huge pages there; false when the system has none.
///
/// Thread rule: all of them are called from any thread at once. None may throw.
template <typename Source>
concept PageSource = requires(Source& source, void* data, size_t bytes) {
  { source.Map(bytes, bytes) }
  noexcept->std::same_as<void*>;
  { source.Unmap(data, bytes) }
  noexcept->std::same_as<void>;
  { source.Decommit(data, bytes) }
  noexcept->std::same_as<bool>;
  { source.AdviseHuge(data, bytes) }
  noexcept->std::same_as<bool>;
};

/// Anonymous memory of the operating system (mmap). Stateless.
class SystemPageSource {
 public:
  void* Map(size_t bytes, size_t alignment) noexcept;
  /// The same with another `protection`, as mmap() takes it.
  void* Map(size_t bytes, size_t alignment, int protection) noexcept;
  void Unmap(void* data, size_t bytes) noexcept;
  bool Decommit(void* data, size_t bytes) noexcept;
  bool AdviseHuge(void* data, size_t bytes) noexcept;

  /// The one instance that every pool uses unless told otherwise. Never destroyed.
  static SystemPageSource& Instance() noexcept;
};
static_assert(PageSource<SystemPageSource>);

class PageSourceRef;

/// Any page source but a reference to one, which is copied instead.
template <typename Source>
concept OtherPageSource = !std::same_as<Source, PageSourceRef> && PageSource<Source>;

/// A PageSource of any type behind one pointer and a table: a pool calls it once per 2 MiB region,
/// so the indirection costs nothing, and PagePool need not be a template.
/// Lifetime rule: the source must outlive every reference and every pool built on it.
class PageSourceRef {
 public:
  template <OtherPageSource Source>
  PageSourceRef(Source& source) noexcept  // NOLINT(google-explicit-constructor): it is a view
      : source_(&source), table_(&kTable<Source>) {}

  void* Map(size_t bytes, size_t alignment) const noexcept {
    return table_->map(source_, bytes, alignment);
  }
  void Unmap(void* data, size_t bytes) const noexcept { table_->unmap(source_, data, bytes); }
  bool Decommit(void* data, size_t bytes) const noexcept {
    return table_->decommit(source_, data, bytes);
  }
  bool AdviseHuge(void* data, size_t bytes) const noexcept {
    return table_->advise_huge(source_, data, bytes);
  }

 private:
  struct Table {
    void* (*map)(void*, size_t, size_t) noexcept;
    void (*unmap)(void*, void*, size_t) noexcept;
    bool (*decommit)(void*, void*, size_t) noexcept;
    bool (*advise_huge)(void*, void*, size_t) noexcept;
  };

  template <typename Source>
  static constexpr Table kTable = {
      [](void* source, size_t bytes, size_t alignment) noexcept {
        return static_cast<Source*>(source)->Map(bytes, alignment);
      },
      [](void* source, void* data, size_t bytes) noexcept {
        static_cast<Source*>(source)->Unmap(data, bytes);
      },
      [](void* source, void* data, size_t bytes) noexcept {
        return static_cast<Source*>(source)->Decommit(data, bytes);
      },
      [](void* source, void* data, size_t bytes) noexcept {
        return static_cast<Source*>(source)->AdviseHuge(data, bytes);
      },
  };

  void* source_;
  const Table* table_;
};

}  // namespace harena
