// The page's files, which the build puts into the library.
#pragma once

#include <span>
#include <string_view>

namespace harena::live::internal {

struct PageFile {
  std::string_view name;  ///< Below /harena/, "index.html".
  std::string_view content;
};

/// Thread rule: any thread; they never change.
std::span<const PageFile> PageFiles() noexcept;

}  // namespace harena::live::internal
