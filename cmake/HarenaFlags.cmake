# Compiler flags: warnings and hardening for our own targets, sanitizers for the whole tree.
include_guard(GLOBAL)

set(HARENA_SANITIZE "" CACHE STRING "address (with undefined behaviour), thread, or empty")
set_property(CACHE HARENA_SANITIZE PROPERTY STRINGS "" address thread)
option(HARENA_FUZZ "Build the libFuzzer targets, everything instrumented for them (clang)" OFF)
option(HARENA_WERROR "Treat warnings in Harena's own code as errors" ${PROJECT_IS_TOP_LEVEL})

include(HarenaHardening)

# What holds for every hand-written target. Private: users keep their own.
function(harena_private_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${HARENA_WERROR}>:-Werror>)
  harena_harden(${target})
endfunction()

# The environment of tests; that of tests that talk through gRPC or brpc may differ.
set(HARENA_TEST_PROPERTIES "")
set(HARENA_GRPC_TEST_PROPERTIES "")
set(HARENA_BRPC_TEST_PROPERTIES "")
if(HARENA_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # g++ has no such list: its build may stop there at hostile input.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND sanitizers
      -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizer_ignorelist.txt)
  endif()
  set(HARENA_TEST_PROPERTIES ENVIRONMENT
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1)
  set(HARENA_GRPC_TEST_PROPERTIES ${HARENA_TEST_PROPERTIES})
  # Bthreads leave their stacks for others; and whole stacks are what leaks of brpc's are known by.
  set(HARENA_BRPC_TEST_PROPERTIES ENVIRONMENT
    ASAN_OPTIONS=detect_stack_use_after_return=0:strict_string_checks=1:fast_unwind_on_malloc=0)
elseif(HARENA_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
  # Its own report of a fault allocates in the signal's handler, and often waits for itself for ever.
  set(tsan_options
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:handle_segv=0:handle_sigbus=0)
  set(HARENA_TEST_PROPERTIES ENVIRONMENT ${tsan_options})
  set(HARENA_GRPC_TEST_PROPERTIES ENVIRONMENT
    ${tsan_options}:suppressions=${PROJECT_SOURCE_DIR}/tools/tsan_grpc.supp)
elseif(HARENA_SANITIZE)
  message(FATAL_ERROR "HARENA_SANITIZE knows `address` and `thread`, not `${HARENA_SANITIZE}`")
else()
  set(sanitizers "")
endif()
if(HARENA_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HARENA_FUZZ needs clang++, for libFuzzer: CXX=clang++-14 cmake --preset fuzz")
  endif()
  list(APPEND sanitizers -fsanitize=fuzzer-no-link)
endif()
# Sanitizers make the optimiser take minutes for a large generated file.
if(HARENA_SANITIZE)
  set(HARENA_GENERATED_COMPILE_OPTIONS -O0)
endif()
add_compile_options(${sanitizers})
add_link_options(${sanitizers})

# The sanitizers of the compilers we support cannot place their shadow memory where the kernel
# randomises addresses by more than 28 bits. There, tests run without that randomisation.
set(random_bits 0)
if(HARENA_SANITIZE AND EXISTS /proc/sys/vm/mmap_rnd_bits)
  file(READ /proc/sys/vm/mmap_rnd_bits random_bits)
  string(STRIP "${random_bits}" random_bits)
endif()
if(random_bits GREATER 28)
  find_program(HARENA_SETARCH setarch)
  execute_process(COMMAND ${HARENA_SETARCH} -R true RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  if(NOT HARENA_SETARCH OR refused)
    message(WARNING "vm.mmap_rnd_bits is ${random_bits} and `setarch -R` does not work here: tests may "
      "die at start. `sysctl vm.mmap_rnd_bits=28` helps.")
  else()
    set(CMAKE_CROSSCOMPILING_EMULATOR ${HARENA_SETARCH} -R)
  endif()
endif()
