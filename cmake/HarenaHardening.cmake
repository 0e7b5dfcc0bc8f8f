# Compiler and linker flags that make a memory error stop the program. For Harena's own targets, and
# private to them: whoever uses the package keeps flags of his own (cpp/tests/install checks it).
include_guard(GLOBAL)
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(HARENA_HARDENING "Compile and link Harena's own targets with hardening flags" ON)
option(HARENA_LIBRARY_ASSERTIONS
  "Compile Harena's own targets with the standard library's own checks of its arguments" OFF)

set(hardening_compile_options "")
set(hardening_link_options "")
# Sanitizers see more, and get in the way of these.
if(HARENA_HARDENING AND NOT HARENA_SANITIZE AND NOT HARENA_FUZZ)
  check_cxx_compiler_flag(-fstack-protector-strong HARENA_HAS_STACK_PROTECTOR)
  if(HARENA_HAS_STACK_PROTECTOR)
    list(APPEND hardening_compile_options -fstack-protector-strong)
  endif()
  # Marks for the shadow stack, which cost nothing. The other half, an instruction in front of every
  # function, is measurable (0.3 % of a request) and nothing on Linux asks for it: left to the compiler.
  check_cxx_source_compiles("#ifndef __CET__\n#error\n#endif\nint main() {}" HARENA_HAS_CET_BY_DEFAULT)
  check_cxx_compiler_flag(-fcf-protection=return HARENA_HAS_CF_PROTECTION)
  if(HARENA_HAS_CF_PROTECTION AND NOT HARENA_HAS_CET_BY_DEFAULT)
    list(APPEND hardening_compile_options -fcf-protection=return)
  endif()
  # It needs optimisation. Whoever defines it for the whole build, as distributions do, is obeyed.
  if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
    list(APPEND hardening_compile_options
      "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  endif()
  foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    string(MAKE_C_IDENTIFIER "HARENA_HAS${flag}" known)
    check_linker_flag(CXX ${flag} ${known})
    if(${known})
      list(APPEND hardening_link_options ${flag})
    endif()
  endforeach()
  check_pie_supported(LANGUAGES CXX)
endif()
set(HARENA_HARDENING_COMPILE_OPTIONS ${hardening_compile_options})
set(HARENA_HARDENING_LINK_OPTIONS ${hardening_link_options})

# What a target compiles and links with. REQUIRES: the target has sources of its own.
function(harena_harden target)
  if(HARENA_HARDENING_COMPILE_OPTIONS)
    target_compile_options(${target} PRIVATE ${HARENA_HARDENING_COMPILE_OPTIONS})
  endif()
  if(HARENA_LIBRARY_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
  if(NOT HARENA_HARDENING_LINK_OPTIONS)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  if(type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY")
    target_link_options(${target} PRIVATE ${HARENA_HARDENING_LINK_OPTIONS})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  elseif(NOT independent AND CMAKE_CXX_LINK_PIE_SUPPORTED)
    target_compile_options(${target} PRIVATE -fPIE)  # what is linked into these programs
  endif()
endfunction()

# For sources of the calling folder that are run for every string of a request: the stack protector in
# functions with buffers only, not in all that pass a local's address, which costs 1 % of a request.
function(harena_harden_lightly)
  if(HARENA_HAS_STACK_PROTECTOR AND HARENA_HARDENING_COMPILE_OPTIONS)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fstack-protector)
  endif()
endfunction()
