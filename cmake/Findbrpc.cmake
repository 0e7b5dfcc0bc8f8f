# Finds brpc, which installs no CMake package: target brpc::brpc. Look in CMAKE_PREFIX_PATH, or set
# brpc_INCLUDE_DIR and brpc_LIBRARY. Needs 1.11 or later, where ServerOptions has a message factory.
# Sets brpc_VERSION, "unknown" where brpc's own pkg-config file does not lie beside the library.
# Part of the installed package.
find_path(brpc_INCLUDE_DIR NAMES brpc/server.h)
find_library(brpc_LIBRARY NAMES brpc)
find_path(brpc_GFLAGS_INCLUDE_DIR NAMES gflags/gflags.h)
find_library(brpc_GFLAGS_LIBRARY NAMES gflags)
mark_as_advanced(brpc_INCLUDE_DIR brpc_LIBRARY brpc_GFLAGS_INCLUDE_DIR brpc_GFLAGS_LIBRARY)

set(brpc_MESSAGE_FACTORY FALSE)
if(brpc_INCLUDE_DIR AND EXISTS ${brpc_INCLUDE_DIR}/brpc/rpc_pb_message_factory.h)
  set(brpc_MESSAGE_FACTORY TRUE)
elseif(brpc_INCLUDE_DIR)
  set(brpc_REASON "the brpc in ${brpc_INCLUDE_DIR} is older than 1.11")
endif()
set(required
  brpc_LIBRARY brpc_INCLUDE_DIR brpc_MESSAGE_FACTORY brpc_GFLAGS_LIBRARY brpc_GFLAGS_INCLUDE_DIR)

# A static brpc does not name what it needs itself.
set(brpc_PRIVATE_LIBRARIES "")
if(brpc_LIBRARY MATCHES "\\.a$")
  find_package(OpenSSL QUIET)
  find_package(ZLIB QUIET)
  find_library(brpc_LEVELDB_LIBRARY NAMES leveldb)
  mark_as_advanced(brpc_LEVELDB_LIBRARY)
  list(APPEND required brpc_LEVELDB_LIBRARY OPENSSL_FOUND ZLIB_FOUND)
  set(brpc_PRIVATE_LIBRARIES
    ${brpc_LEVELDB_LIBRARY} OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB ${CMAKE_DL_LIBS} rt)
endif()

set(brpc_VERSION unknown)
get_filename_component(brpc_pc "${brpc_LIBRARY}" DIRECTORY)
string(APPEND brpc_pc /pkgconfig/brpc.pc)
if(EXISTS ${brpc_pc})
  file(STRINGS ${brpc_pc} brpc_pc REGEX "^Version: ")
  string(REPLACE "Version: " "" brpc_VERSION "${brpc_pc}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(brpc
  REQUIRED_VARS ${required} REASON_FAILURE_MESSAGE "${brpc_REASON}")

if(brpc_FOUND AND NOT TARGET brpc::brpc)
  add_library(brpc::brpc UNKNOWN IMPORTED)
  set_target_properties(brpc::brpc PROPERTIES
    IMPORTED_LOCATION ${brpc_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${brpc_INCLUDE_DIR};${brpc_GFLAGS_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES
      "${brpc_GFLAGS_LIBRARY};protobuf::libprotobuf;${brpc_PRIVATE_LIBRARIES};Threads::Threads")
endif()
