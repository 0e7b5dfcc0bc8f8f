# What Harena builds on, found once for the whole tree. Each absence names the package that mends it.
include_guard(GLOBAL)

find_package(Threads REQUIRED)

if(HARENA_GRPC AND NOT HARENA_PB)
  message(FATAL_ERROR "HARENA_GRPC needs HARENA_PB: set HARENA_PB=ON or HARENA_GRPC=OFF")
endif()

if(HARENA_PB)
  # Newer protobuf brings its own CMake package; 3.21 on Debian is found by CMake's module.
  find_package(protobuf CONFIG QUIET)
  if(NOT TARGET protobuf::libprotobuf)
    find_package(Protobuf MODULE QUIET)
  endif()
  if(NOT TARGET protobuf::libprotobuf OR NOT TARGET protobuf::protoc)
    message(FATAL_ERROR "protobuf with its compiler was not found. On Debian: "
      "`make setup`, or apt-get install libprotobuf-dev libprotoc-dev protobuf-compiler. "
      "Without the protobuf layer: -DHARENA_PB=OFF -DHARENA_GRPC=OFF")
  endif()
endif()

# Everybody in this tree who uses protobuf must agree on how its maps are laid out.
if(HARENA_PB AND HARENA_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tsan_protobuf.h.in
    ${PROJECT_BINARY_DIR}/tsan_protobuf.h COPYONLY)
  set_property(TARGET protobuf::libprotobuf APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
    "SHELL:-include ${PROJECT_BINARY_DIR}/tsan_protobuf.h")
endif()

if(HARENA_GRPC)
  find_package(gRPC CONFIG QUIET)
  find_package(absl CONFIG QUIET)
  if(NOT TARGET gRPC::grpc++ OR NOT TARGET gRPC::grpc_cpp_plugin OR NOT TARGET absl::synchronization)
    message(FATAL_ERROR "gRPC C++ with its protoc plugin was not found. On Debian: "
      "`make setup`, or apt-get install libgrpc++-dev protobuf-compiler-grpc. "
      "Without the gRPC adapter: -DHARENA_GRPC=OFF")
  endif()
endif()

# AUTO builds the adapter where brpc is; ON insists. HARENA_WITH_BRPC is what came of it.
set(HARENA_WITH_BRPC OFF)
if(HARENA_BRPC STREQUAL "AUTO" AND HARENA_SANITIZE)
  # A brpc that was not built with the sanitizer switches stacks behind its back.
  set(HARENA_BRPC_ABSENT "HARENA_SANITIZE is set; -DHARENA_BRPC=ON with a brpc built for it")
elseif(HARENA_BRPC STREQUAL "AUTO" AND NOT HARENA_PB)
  set(HARENA_BRPC_ABSENT "HARENA_PB is OFF")
elseif(HARENA_BRPC)
  if(NOT HARENA_PB)
    message(FATAL_ERROR "HARENA_BRPC needs HARENA_PB: set HARENA_PB=ON or HARENA_BRPC=OFF")
  endif()
  find_package(brpc QUIET MODULE)
  if(TARGET brpc::brpc)
    set(HARENA_WITH_BRPC ON)
  else()
    set(HARENA_BRPC_ABSENT "brpc 1.11 or later, or gflags, was not found. On Debian: "
      "apt-get install libgflags-dev libleveldb-dev libssl-dev zlib1g-dev, then build brpc as "
      "docs/brpc.md says and pass -DCMAKE_PREFIX_PATH=<where it is installed>")
    string(CONCAT HARENA_BRPC_ABSENT ${HARENA_BRPC_ABSENT})
    if(NOT HARENA_BRPC STREQUAL "AUTO")
      message(FATAL_ERROR "${HARENA_BRPC_ABSENT}. Without the brpc adapter: -DHARENA_BRPC=OFF")
    endif()
  endif()
else()
  set(HARENA_BRPC_ABSENT "HARENA_BRPC is OFF")
endif()
if(NOT HARENA_WITH_BRPC)
  message(STATUS "The brpc adapter and its tests are left out: ${HARENA_BRPC_ABSENT}")
endif()

# The same for tRPC-Cpp.
set(HARENA_WITH_TRPC OFF)
if(HARENA_TRPC STREQUAL "AUTO" AND HARENA_SANITIZE)
  set(HARENA_TRPC_ABSENT "HARENA_SANITIZE is set; -DHARENA_TRPC=ON to have it all the same")
elseif(HARENA_TRPC STREQUAL "AUTO" AND NOT HARENA_PB)
  set(HARENA_TRPC_ABSENT "HARENA_PB is OFF")
elseif(HARENA_TRPC)
  if(NOT HARENA_PB)
    message(FATAL_ERROR "HARENA_TRPC needs HARENA_PB: set HARENA_PB=ON or HARENA_TRPC=OFF")
  endif()
  find_package(trpc QUIET MODULE)
  if(TARGET trpc::trpc)
    set(HARENA_WITH_TRPC ON)
  else()
    set(HARENA_TRPC_ABSENT "tRPC-Cpp with its arenas was not found")
    if(trpc_REASON)
      set(HARENA_TRPC_ABSENT "${trpc_REASON}")
    endif()
    string(APPEND HARENA_TRPC_ABSENT ". Build it as docs/trpc.md says (with -DTRPC_PROTO_USE_ARENA "
      "and Harena's protobuf) and pass -DCMAKE_PREFIX_PATH=<where it is installed>")
    if(NOT HARENA_TRPC STREQUAL "AUTO")
      message(FATAL_ERROR "${HARENA_TRPC_ABSENT}. Without the tRPC adapter: -DHARENA_TRPC=OFF")
    endif()
  endif()
else()
  set(HARENA_TRPC_ABSENT "HARENA_TRPC is OFF")
endif()
if(NOT HARENA_WITH_TRPC)
  message(STATUS "The tRPC adapter is left out, and tested without tRPC: ${HARENA_TRPC_ABSENT}")
endif()

# The same for the reader of YAML files.
set(HARENA_WITH_CONFIG OFF)
if(HARENA_CONFIG_YAML STREQUAL "AUTO" AND NOT HARENA_PB)
  set(HARENA_CONFIG_ABSENT "HARENA_PB is OFF")
elseif(HARENA_CONFIG_YAML)
  if(NOT HARENA_PB)
    message(FATAL_ERROR "HARENA_CONFIG_YAML needs HARENA_PB: set HARENA_PB=ON or HARENA_CONFIG_YAML=OFF")
  endif()
  find_package(yaml-cpp CONFIG QUIET)
  if(TARGET yaml-cpp OR TARGET yaml-cpp::yaml-cpp)
    set(HARENA_WITH_CONFIG ON)
  else()
    set(HARENA_CONFIG_ABSENT "yaml-cpp was not found. On Debian: `make setup`, or apt-get install libyaml-cpp-dev")
    if(NOT HARENA_CONFIG_YAML STREQUAL "AUTO")
      message(FATAL_ERROR "${HARENA_CONFIG_ABSENT}. Without files of settings: -DHARENA_CONFIG_YAML=OFF")
    endif()
  endif()
else()
  set(HARENA_CONFIG_ABSENT "HARENA_CONFIG_YAML is OFF")
endif()
if(NOT HARENA_WITH_CONFIG)
  message(STATUS "harena::config and its tests are left out: ${HARENA_CONFIG_ABSENT}")
endif()

if(HARENA_TESTS)
  find_package(GTest CONFIG QUIET)
  find_package(rapidcheck CONFIG QUIET)
  if(NOT TARGET GTest::gmock OR NOT TARGET rapidcheck)
    message(FATAL_ERROR "GoogleTest, GoogleMock or RapidCheck was not found. On Debian: `make setup`, "
      "or apt-get install libgtest-dev libgmock-dev librapidcheck-dev. "
      "Without the tests: -DHARENA_TESTS=OFF")
  endif()
  find_package(Python3 3.9 COMPONENTS Interpreter REQUIRED)
endif()

if(HARENA_BENCHES)
  find_package(benchmark CONFIG QUIET)
  if(NOT TARGET benchmark::benchmark)
    message(FATAL_ERROR "google-benchmark was not found. On Debian: `make setup`, "
      "or apt-get install libbenchmark-dev. Without the benchmarks: -DHARENA_BENCHES=OFF")
  endif()
endif()

if(HARENA_TESTS OR HARENA_BENCHES)
  find_package(CLI11 CONFIG QUIET)
  find_package(nlohmann_json CONFIG QUIET)
  if(NOT TARGET CLI11::CLI11 OR NOT TARGET nlohmann_json::nlohmann_json)
    message(FATAL_ERROR "CLI11 or nlohmann-json was not found. On Debian: `make setup`, "
      "or apt-get install libcli11-dev nlohmann-json3-dev. "
      "Without tests and benchmarks: -DHARENA_TESTS=OFF -DHARENA_BENCHES=OFF")
  endif()
endif()
