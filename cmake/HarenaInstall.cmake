# The installed package: find_package(harena), and pkg-config's harena.pc and harena-grpc.pc.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/harena)
install(EXPORT harenaTargets NAMESPACE harena:: DESTINATION ${package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/harenaConfig.cmake.in ${PROJECT_BINARY_DIR}/harenaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/harenaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/harenaConfig.cmake
  ${PROJECT_BINARY_DIR}/harenaConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/HarenaGenerate.cmake
  ${PROJECT_SOURCE_DIR}/cmake/Findbrpc.cmake
  ${PROJECT_SOURCE_DIR}/cmake/Findtrpc.cmake
  DESTINATION ${package_dir})
# A build can be used where it lies: -Dharena_DIR=<build>. Replays of a checkout do.
export(EXPORT harenaTargets NAMESPACE harena:: FILE ${PROJECT_BINARY_DIR}/harenaTargets.cmake)
foreach(file HarenaGenerate Findbrpc Findtrpc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file}.cmake ${PROJECT_BINARY_DIR}/${file}.cmake COPYONLY)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Several pkg-config files, because gRPC drags some eighty libraries in and most users of the memory do
# not want them:
#   harena       base, mem, scope and, when built, pb (then it requires protobuf)
#   harena-grpc  the gRPC adapter on top of it       (requires harena and grpc++)
#   harena-brpc  the brpc adapter on top of it       (requires harena, brpc and gflags)
# Layers were declared bottom to top; a static link line wants the users of a library before it.
get_property(layers GLOBAL PROPERTY HARENA_STATIC_LAYERS)
set(HARENA_PC_LIBS "")
set(HARENA_GRPC_PC_LIBS "")
foreach(layer IN LISTS layers)
  if(layer STREQUAL "grpc")
    set(HARENA_GRPC_PC_LIBS "-lharena_grpc")
  elseif(layer STREQUAL "brpc")
    set(HARENA_BRPC_PC_LIBS "-lharena_brpc")
  elseif(layer STREQUAL "trpc")
    # tRPC-Cpp has no pkg-config file to build on: CMake alone knows this layer.
  else()
    string(PREPEND HARENA_PC_LIBS "-lharena_${layer} ")
  endif()
endforeach()
set(HARENA_PC_REQUIRES "")
if(HARENA_PB)
  set(HARENA_PC_REQUIRES "protobuf")
endif()
# The prefix is found from the file's own place, so that an installed tree may be moved.
file(RELATIVE_PATH HARENA_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" HARENA_PC_PREFIX "${HARENA_PC_PREFIX}")

configure_file(${PROJECT_SOURCE_DIR}/cmake/harena.pc.in ${PROJECT_BINARY_DIR}/harena.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/harena.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(HARENA_GRPC)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/harena-grpc.pc.in
    ${PROJECT_BINARY_DIR}/harena-grpc.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/harena-grpc.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(HARENA_WITH_BRPC)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/harena-brpc.pc.in
    ${PROJECT_BINARY_DIR}/harena-brpc.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/harena-brpc.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
