# Finds tRPC-Cpp, which installs no CMake package: target trpc::trpc. Looks in CMAKE_PREFIX_PATH and
# where tRPC-Cpp installs itself; or set trpc_INCLUDE_DIR and trpc_LIBRARY. Needs a tRPC-Cpp compiled
# with TRPC_PROTO_USE_ARENA, and with the protobuf that Harena uses. Part of the installed package.
set(trpc_DEFAULT_PREFIX /usr/local/trpc-cpp/trpc)
find_path(trpc_INCLUDE_DIR NAMES trpc/server/method_handler.h
  HINTS ${trpc_DEFAULT_PREFIX} PATH_SUFFIXES include)
find_library(trpc_LIBRARY NAMES trpc HINTS ${trpc_DEFAULT_PREFIX} PATH_SUFFIXES lib)
mark_as_advanced(trpc_INCLUDE_DIR trpc_LIBRARY)

# What tRPC-Cpp's own headers include: its install puts them beside it, a distribution elsewhere.
set(trpc_HEADER_DIRS ${trpc_INCLUDE_DIR})
find_path(trpc_JSONCPP_INCLUDE_DIR NAMES json/json.h
  HINTS ${trpc_INCLUDE_DIR} PATH_SUFFIXES jsoncpp)
mark_as_advanced(trpc_JSONCPP_INCLUDE_DIR)
if(trpc_JSONCPP_INCLUDE_DIR)
  list(APPEND trpc_HEADER_DIRS ${trpc_JSONCPP_INCLUDE_DIR})
endif()
# The same for the libraries by which tRPC-Cpp compresses: the adapter decompresses by them, too.
set(trpc_COMPRESSION_DIRS "")
foreach(header zlib snappy lz4frame)
  find_path(trpc_${header}_INCLUDE_DIR NAMES ${header}.h HINTS ${trpc_INCLUDE_DIR})
  mark_as_advanced(trpc_${header}_INCLUDE_DIR)
  list(APPEND trpc_COMPRESSION_DIRS trpc_${header}_INCLUDE_DIR)
  if(trpc_${header}_INCLUDE_DIR)
    list(APPEND trpc_HEADER_DIRS ${trpc_${header}_INCLUDE_DIR})
  endif()
endforeach()
list(REMOVE_DUPLICATES trpc_HEADER_DIRS)

# A static tRPC-Cpp does not name what it needs itself. What a build of it did without is not there.
# A shared one does, but the adapter calls the libraries that decompress, too.
set(trpc_PRIVATE_LIBRARIES "")
set(trpc_NEEDED snappy lz4 z)
if(trpc_LIBRARY MATCHES "\\.a$")
  set(trpc_NEEDED spdlog fmt yaml-cpp jsoncpp nghttp2 snappy lz4 flatbuffers z curl ssl crypto)
endif()
if(trpc_LIBRARY)
  get_filename_component(trpc_LIBRARY_DIR ${trpc_LIBRARY} DIRECTORY)
  foreach(name IN LISTS trpc_NEEDED)
    find_library(trpc_${name}_LIBRARY NAMES ${name} HINTS ${trpc_LIBRARY_DIR})
    mark_as_advanced(trpc_${name}_LIBRARY)
    if(trpc_${name}_LIBRARY)
      list(APPEND trpc_PRIVATE_LIBRARIES ${trpc_${name}_LIBRARY})
    endif()
  endforeach()
endif()
if(trpc_LIBRARY MATCHES "\\.a$")
  find_library(trpc_gflags_LIBRARY NAMES gflags gflags_nothreads HINTS ${trpc_LIBRARY_DIR})
  mark_as_advanced(trpc_gflags_LIBRARY)
  if(trpc_gflags_LIBRARY)
    list(APPEND trpc_PRIVATE_LIBRARIES ${trpc_gflags_LIBRARY})
  endif()
  list(APPEND trpc_PRIVATE_LIBRARIES ${CMAKE_DL_LIBS})
endif()

# The switch has no trace in the headers: ask the library for what only it brings.
set(trpc_ARENA FALSE)
if(trpc_LIBRARY AND trpc_INCLUDE_DIR)
  try_compile(trpc_ARENA
    SOURCE_FROM_CONTENT trpc_arena.cc "
      #include <google/protobuf/arena.h>
      namespace trpc { void SetGlobalArenaOptions(const google::protobuf::ArenaOptions&); }
      int main() { trpc::SetGlobalArenaOptions(google::protobuf::ArenaOptions()); }"
    LINK_LIBRARIES ${trpc_LIBRARY} ${trpc_PRIVATE_LIBRARIES} protobuf::libprotobuf Threads::Threads
    NO_CACHE)
  if(NOT trpc_ARENA)
    set(trpc_REASON "${trpc_LIBRARY} was compiled without -DTRPC_PROTO_USE_ARENA, or for another "
      "protobuf than Harena's")
    string(CONCAT trpc_REASON ${trpc_REASON})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(trpc
  REQUIRED_VARS trpc_LIBRARY trpc_INCLUDE_DIR trpc_JSONCPP_INCLUDE_DIR ${trpc_COMPRESSION_DIRS}
    trpc_ARENA
  REASON_FAILURE_MESSAGE "${trpc_REASON}")

if(trpc_FOUND AND NOT TARGET trpc::trpc)
  add_library(trpc::trpc UNKNOWN IMPORTED)
  set_target_properties(trpc::trpc PROPERTIES
    IMPORTED_LOCATION ${trpc_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${trpc_HEADER_DIRS}"
    # All of a program must agree on it: ServerContext is laid out by it.
    INTERFACE_COMPILE_DEFINITIONS TRPC_PROTO_USE_ARENA
    INTERFACE_LINK_LIBRARIES
      "protobuf::libprotobuf;${trpc_PRIVATE_LIBRARIES};Threads::Threads")
endif()
