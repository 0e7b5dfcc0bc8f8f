# The shapes of target in this tree: a library layer, a test, a micro-benchmark, a fuzzer.
include_guard(GLOBAL)
include(GNUInstallDirs)
include(HarenaFlags)

# The root of every `#include "harena/..."`.
set(HARENA_INCLUDE_ROOT ${PROJECT_SOURCE_DIR}/cpp)

#   harena_library(<name> [SRCS <a.cc>...] [HDRS <a.h>...] [DEPS <target>...])
#
# One layer: target harena_<name>, used as harena::<name> here and behind find_package(harena).
# HDRS are installed; by default every header of this folder and of its internal/, except test
# helpers (test_*.h, *_test.h). Without SRCS the layer is header-only. DEPS are public: users of the
# layer get them.
function(harena_library name)
  cmake_parse_arguments(arg "" "" "SRCS;HDRS;DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "harena_library(${name}): unknown argument(s): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target harena_${name})
  if(NOT arg_HDRS)
    file(GLOB arg_HDRS CONFIGURE_DEPENDS *.h internal/*.h)
    list(FILTER arg_HDRS EXCLUDE REGEX "/test_[^/]*\\.h$|_test\\.h$")
  endif()

  if(arg_SRCS)
    add_library(${target} STATIC ${arg_SRCS})
    set(scope PUBLIC)
    # A static layer may end up inside somebody's shared library.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    harena_private_flags(${target})
    set_property(GLOBAL APPEND PROPERTY HARENA_STATIC_LAYERS ${name})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(harena::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_DEPS})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${HARENA_INCLUDE_ROOT}
                 FILES ${arg_HDRS})
  install(TARGETS ${target} EXPORT harenaTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# Tests are compiled in a hurry: less optimised than what they test, and with the headers that most of
# them include compiled once (<kind>: `plain`, or `grpc` with gRPC's).
function(harena_compile_in_a_hurry name kind)
  # Libraries of some tests bring -pthread along, and the headers have to be compiled as they are.
  set(options -pthread $<$<CONFIG:Release,RelWithDebInfo>:-O1> $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_compile_options(${name} PRIVATE ${options})
  # There everybody who uses protobuf is given a header of ours before all others.
  if(HARENA_SANITIZE STREQUAL "thread")
    return()
  endif()
  set(headers harena_${kind}_test_headers)
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cc CONTENT "int main() {}\n")
    add_executable(${headers} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cc)
    harena_private_flags(${headers})
    target_compile_features(${headers} PRIVATE cxx_std_20)
    target_link_libraries(${headers} PRIVATE GTest::gmock GTest::gtest)
    target_compile_options(${headers} PRIVATE ${options})
    set(list <gmock/gmock.h> <gtest/gtest.h> <algorithm> <atomic> <functional> <map> <memory> <mutex>
      <optional> <random> <string> <thread> <vector>)
    if(kind STREQUAL "grpc")
      target_link_libraries(${headers} PRIVATE gRPC::grpc++)
      list(APPEND list <google/protobuf/message.h> <grpcpp/grpcpp.h>)
    endif()
    target_precompile_headers(${headers} PRIVATE ${list})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
  # What is no test goes through clang-tidy, which cannot read what gcc has precompiled.
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources EXCLUDE REGEX "(^|/)test_|_(test|fuzz)\\.cc$")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

#   harena_test(<name> SRCS <a_test.cc>... [DEPS <target>...] [GRPC] [BRPC] [SAFETY] [SLOW]
#               [TIMEOUT <seconds>])
#
# A GoogleTest program; each of its cases is one ctest entry.
# GRPC     it talks through gRPC: ThreadSanitizer then runs with tools/tsan_grpc.supp
# BRPC     it talks through brpc: AddressSanitizer then runs as bthreads need it
# SAFETY   ctest label `safety` as well: `make test-safety` runs it, and sums what its cases print with
#          cpp/tests/safety_count.h
# SLOW     ctest label `slow`: `make test` leaves it out, `make test-slow` runs it
# TIMEOUT  per case, default 120
function(harena_test name)
  cmake_parse_arguments(arg "GRPC;BRPC;SAFETY;SLOW" "TIMEOUT" "SRCS;DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "harena_test(${name}): unknown argument(s): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT HARENA_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(label fast)
  if(arg_SLOW)
    set(label slow)
  endif()
  set(properties ${HARENA_TEST_PROPERTIES})
  if(arg_GRPC)
    set(properties ${HARENA_GRPC_TEST_PROPERTIES})
  elseif(arg_BRPC)
    set(properties ${HARENA_BRPC_TEST_PROPERTIES})
  endif()
  add_executable(${name} ${arg_SRCS})
  harena_private_flags(${name})
  target_include_directories(${name} PRIVATE ${HARENA_INCLUDE_ROOT})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  if(arg_GRPC)
    harena_compile_in_a_hurry(${name} grpc)
  else()
    harena_compile_in_a_hurry(${name} plain)
  endif()
  gtest_discover_tests(${name}
    TEST_PREFIX ${name}.
    NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT} ${properties})
  if(arg_SAFETY)
    harena_safety_programs(${name})
    # A second label cannot be told to gtest_discover_tests(), which takes lists apart.
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(WRITE ${labels} "if(${name}_TESTS)
  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${label};safety\")
endif()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  endif()
endfunction()

#   harena_test_without_string_images(<test> [EXCEPT <gtest pattern>...])
#
# Runs the test program once more, as one ctest entry, as if strings were not laid out as the codec knows
# them: it does nothing then. EXCEPT names the cases of what only the codec does. Not under a sanitizer,
# where it takes minutes and shows what protobuf does.
function(harena_test_without_string_images test)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  if(NOT TARGET ${test} OR HARENA_SANITIZE)
    return()
  endif()
  list(JOIN arg_EXCEPT ":" patterns)
  add_test(NAME ${test}.without_string_images COMMAND ${test} --gtest_filter=-${patterns})
  set_tests_properties(${test}.without_string_images PROPERTIES
    LABELS fast TIMEOUT 300 ${HARENA_TEST_PROPERTIES}
    ENVIRONMENT_MODIFICATION HARENA_STRING_IMAGES=set:off)
endfunction()

#   harena_fuzz(<name> SRCS <a_fuzz.cc>... [MUTATOR <b_fuzz.cc>] [DEPS <target>...])
#
# A fuzzer: in builds with HARENA_FUZZ the program <name>, with libFuzzer. In builds with tests
# <name>_replay, which ctest runs over the corpus testdata/fuzz/<name>. MUTATOR has the functions that
# only libFuzzer calls.
function(harena_fuzz name)
  cmake_parse_arguments(arg "" "MUTATOR" "SRCS;DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "harena_fuzz(${name}): unknown argument(s): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(programs)
  if(HARENA_FUZZ)
    add_executable(${name} ${arg_SRCS} ${arg_MUTATOR})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND programs ${name})
  endif()
  if(HARENA_TESTS)
    add_executable(${name}_replay ${arg_SRCS} ${PROJECT_SOURCE_DIR}/cpp/tests/fuzz_replay.cc)
    list(APPEND programs ${name}_replay)
    add_test(NAME ${name}.corpus
      COMMAND ${name}_replay ${PROJECT_SOURCE_DIR}/testdata/fuzz/${name})
    set_tests_properties(${name}.corpus PROPERTIES
      LABELS fast TIMEOUT 300 ${HARENA_TEST_PROPERTIES})
  endif()
  foreach(program ${programs})
    harena_private_flags(${program})
    target_include_directories(${program} PRIVATE ${HARENA_INCLUDE_ROOT})
    target_compile_features(${program} PRIVATE cxx_std_20)
    target_link_libraries(${program} PRIVATE ${arg_DEPS})
  endforeach()
endfunction()

#   harena_safety_programs(<target>...)
#
# What tests with the label `safety` run: `make test-safety` builds these and no more.
function(harena_safety_programs)
  if(NOT TARGET harena_safety_programs)
    add_custom_target(harena_safety_programs)
  endif()
  add_dependencies(harena_safety_programs ${ARGN})
endfunction()

#   harena_bench(<name> SRCS <a_bench.cc>... [DEPS <target>...])
#
# A google-benchmark program. ctest runs it for a moment (label `bench-smoke`), so that it cannot rot.
function(harena_bench name)
  cmake_parse_arguments(arg "" "" "SRCS;DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "harena_bench(${name}): unknown argument(s): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT HARENA_BENCHES)
    return()
  endif()
  add_executable(${name} ${arg_SRCS})
  harena_private_flags(${name})
  target_include_directories(${name} PRIVATE ${HARENA_INCLUDE_ROOT})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} benchmark::benchmark benchmark::benchmark_main)
  if(HARENA_TESTS)
    add_test(NAME ${name}.smoke COMMAND ${name} --benchmark_min_time=0.001)
    set_tests_properties(${name}.smoke PROPERTIES LABELS bench-smoke TIMEOUT 120)
  endif()
endfunction()
