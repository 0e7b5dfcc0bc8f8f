# The layers that are built where what they link to is found.
include_guard(GLOBAL)

# harena_optional(<NAME> WHAT <text> FIND <find_package arguments> TARGETS <target>... MISSING <text>...
#                 [NOT_SANITIZED <text>])
# The cache variable HARENA_<NAME> is AUTO, ON or OFF: AUTO builds the layer where FIND brings one of
# the TARGETS, ON insists. HARENA_WITH_<NAME> is what came of it, and HARENA_<NAME>_ABSENT says why it
# is not built: with MISSING, which says what to install. NOT_SANITIZED says why AUTO leaves it out of
# builds with a sanitizer. A macro, because what find_package() finds is for the caller.
macro(harena_optional name)
  cmake_parse_arguments(optional "" "WHAT;NOT_SANITIZED" "FIND;TARGETS;MISSING" ${ARGN})
  set(HARENA_${name} AUTO CACHE STRING "Build ${optional_WHAT} (needs HARENA_PB): AUTO, ON, OFF")
  set_property(CACHE HARENA_${name} PROPERTY STRINGS AUTO ON OFF)
  set(HARENA_WITH_${name} OFF)
  if(HARENA_${name} STREQUAL "AUTO" AND HARENA_SANITIZE AND optional_NOT_SANITIZED)
    set(HARENA_${name}_ABSENT "HARENA_SANITIZE is set; ${optional_NOT_SANITIZED}")
  elseif(HARENA_${name} STREQUAL "AUTO" AND NOT HARENA_PB)
    set(HARENA_${name}_ABSENT "HARENA_PB is OFF")
  elseif(NOT HARENA_${name})
    set(HARENA_${name}_ABSENT "HARENA_${name} is OFF")
  elseif(NOT HARENA_PB)
    message(FATAL_ERROR "HARENA_${name} needs HARENA_PB: set HARENA_PB=ON or HARENA_${name}=OFF")
  else()
    find_package(${optional_FIND} QUIET)
    foreach(target IN ITEMS ${optional_TARGETS})
      if(TARGET ${target})
        set(HARENA_WITH_${name} ON)
      endif()
    endforeach()
    if(NOT HARENA_WITH_${name})
      string(CONCAT HARENA_${name}_ABSENT ${optional_MISSING})
      list(GET optional_FIND 0 package)
      if(${package}_REASON)
        string(PREPEND HARENA_${name}_ABSENT "${${package}_REASON}. ")
      endif()
      if(NOT HARENA_${name} STREQUAL "AUTO")
        message(FATAL_ERROR
          "${HARENA_${name}_ABSENT}. Without ${optional_WHAT}: -DHARENA_${name}=OFF")
      endif()
    endif()
  endif()
  if(NOT HARENA_WITH_${name})
    message(STATUS "Left out, with its tests: ${optional_WHAT}: ${HARENA_${name}_ABSENT}")
  endif()
endmacro()

# What is not built is named among the tests, as skipped.
function(harena_name_absent name test)
  if(HARENA_TESTS AND NOT HARENA_WITH_${name})
    add_test(NAME ${test}.absent COMMAND ${CMAKE_COMMAND} -E echo "absent: ${HARENA_${name}_ABSENT}")
    set_tests_properties(${test}.absent PROPERTIES SKIP_REGULAR_EXPRESSION "absent:" LABELS fast)
  endif()
endfunction()
