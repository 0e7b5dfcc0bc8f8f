# What Harena builds on, found once for the whole tree. Each absence names the package that mends it.
include_guard(GLOBAL)

# A project that adds this one links to the same libraries, from a folder above.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
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

harena_optional(BRPC WHAT "harena::brpc, the brpc adapter"
  FIND brpc MODULE TARGETS brpc::brpc
  MISSING "brpc 1.11 or later, or gflags, was not found. On Debian: "
    "apt-get install libgflags-dev libleveldb-dev libssl-dev zlib1g-dev, then build brpc as "
    "docs/brpc.md says and pass -DCMAKE_PREFIX_PATH=<where it is installed>"
  # A brpc that was not built with the sanitizer switches stacks behind its back.
  NOT_SANITIZED "-DHARENA_BRPC=ON with a brpc built for it")
harena_optional(TRPC WHAT "harena::trpc, the tRPC-Cpp adapter"
  FIND trpc MODULE TARGETS trpc::trpc
  MISSING "tRPC-Cpp with its arenas was not found. Build it as docs/trpc.md says (with "
    "-DTRPC_PROTO_USE_ARENA and Harena's protobuf) and pass -DCMAKE_PREFIX_PATH=<where it is installed>"
  NOT_SANITIZED "-DHARENA_TRPC=ON to have it all the same")
harena_optional(PROMETHEUS WHAT "harena::prometheus, the exporter"
  FIND prometheus-cpp CONFIG TARGETS prometheus-cpp::core
  MISSING "prometheus-cpp was not found. On Debian: `make setup`, or apt-get install prometheus-cpp-dev")
harena_optional(LIVE WHAT "harena::live, the live page"
  FIND Boost 1.74 CONFIG TARGETS Boost::headers
  MISSING "Boost 1.74 or later was not found. On Debian: `make setup`, or apt-get install libboost-dev")
harena_optional(CONFIG_YAML WHAT "harena::config, settings from YAML files"
  FIND yaml-cpp CONFIG TARGETS yaml-cpp yaml-cpp::yaml-cpp
  MISSING "yaml-cpp was not found. On Debian: `make setup`, or apt-get install libyaml-cpp-dev")

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

if(HARENA_WITH_LIVE OR HARENA_TESTS OR HARENA_BENCHES OR HARENA_REPLAY)
  find_package(nlohmann_json CONFIG QUIET)
  if(NOT TARGET nlohmann_json::nlohmann_json)
    message(FATAL_ERROR "nlohmann-json was not found. On Debian: `make setup`, or apt-get install "
      "nlohmann-json3-dev. Without what needs it: -DHARENA_LIVE=OFF -DHARENA_TESTS=OFF -DHARENA_BENCHES=OFF "
      "-DHARENA_REPLAY=OFF")
  endif()
endif()

if(HARENA_TESTS OR HARENA_BENCHES OR HARENA_REPLAY)
  find_package(CLI11 CONFIG QUIET)
  if(NOT TARGET CLI11::CLI11)
    message(FATAL_ERROR "CLI11 was not found. On Debian: `make setup`, or apt-get install libcli11-dev. "
      "Without what needs it: -DHARENA_TESTS=OFF -DHARENA_BENCHES=OFF -DHARENA_REPLAY=OFF")
  endif()
endif()
