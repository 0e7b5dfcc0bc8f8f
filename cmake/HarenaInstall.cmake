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
# not want them: harena.pc has base, mem, guard, scope and, when built, pb (then it requires protobuf), and
# each library on top of it has one of its own, which names what it requires besides.
# tRPC-Cpp has no pkg-config file to build on: CMake alone knows that layer.
set(layers_with_pc grpc brpc prometheus live config)
set(grpc_pc "the gRPC adapter" "grpc++ absl_synchronization")
set(brpc_pc "the brpc adapter" "brpc gflags")
set(prometheus_pc "the Prometheus exporter" "prometheus-cpp-core")
set(live_pc "the live page" "")
set(config_pc "settings from YAML files" "yaml-cpp")
# The prefix is found from the file's own place, so that an installed tree may be moved.
file(RELATIVE_PATH HARENA_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" HARENA_PC_PREFIX "${HARENA_PC_PREFIX}")

function(install_pc name what requires libs)
  set(HARENA_PC_NAME ${name})
  set(HARENA_PC_DESCRIPTION "${what}")
  set(HARENA_PC_REQUIRES "${requires}")
  set(HARENA_PC_LIBS "${libs}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/harena.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# Layers were declared bottom to top; a static link line wants the users of a library before it.
get_property(layers GLOBAL PROPERTY HARENA_STATIC_LAYERS)
set(base_libs "")
foreach(layer IN LISTS layers)
  if(layer IN_LIST layers_with_pc)
    list(GET ${layer}_pc 0 what)
    list(GET ${layer}_pc 1 requires)
    install_pc(harena-${layer} "${PROJECT_DESCRIPTION}: ${what}" "harena ${requires}" -lharena_${layer})
  elseif(NOT layer STREQUAL "trpc")
    string(PREPEND base_libs "-lharena_${layer} ")
  endif()
endforeach()
set(requires "")
if(HARENA_PB)
  set(requires "protobuf")
endif()
install_pc(harena "${PROJECT_DESCRIPTION}" "${requires}" "${base_libs}")
