# Writes the page's files as a C++ source: cmake -DFOLDER=... -DOUT=... -P embed_page.cmake
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(FILTER files EXCLUDE REGEX "\\.md$")
list(SORT files)
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} content HEX)
  string(REGEX REPLACE "(..)" "0x\\1," content "${content}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" content "${content}")
  string(APPEND arrays "const unsigned char kFile${number}[] = {\n${content}};\n")
  string(APPEND rows "    {\"${file}\", View(kFile${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Written by embed_page.cmake.
#include \"harena/live/internal/page_files.h\"

#include <cstddef>

namespace harena::live::internal {
namespace {

${arrays}
template <size_t kBytes>
std::string_view View(const unsigned char (&file)[kBytes]) {
  return {reinterpret_cast<const char*>(file), kBytes};
}

}  // namespace

std::span<const PageFile> PageFiles() noexcept {
  static const PageFile files[] = {
${rows}  };
  return files;
}

}  // namespace harena::live::internal
")
