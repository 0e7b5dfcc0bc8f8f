# harena_proto_library: a static library from the schemas of this repository (tests, benchmarks).
include_guard(GLOBAL)
include(HarenaGenerate)

#   harena_proto_library(<target> PROTOS <a.proto>... IMPORT_DIR <dir>... [CODEC] [GRPC] [HARENA] [DEPS ...])
#
# CODEC   Harena's parser and serializer in the messages
# GRPC    also gRPC's service code (<name>.grpc.pb.h)
# HARENA  also Harena's installer for the services (<name>.harena.grpc.h)
#         Both are left out of a build without HARENA_GRPC.
# DEPS    other proto libraries whose headers these files import
function(harena_proto_library target)
  cmake_parse_arguments(arg "CODEC;GRPC;HARENA" "" "PROTOS;IMPORT_DIR;DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "harena_proto_library(${target}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(outputs cpp)
  if(arg_CODEC)
    list(APPEND outputs codec)
  endif()
  if(arg_GRPC AND HARENA_GRPC)
    list(APPEND outputs grpc)
  endif()
  if(arg_HARENA AND HARENA_GRPC)
    list(APPEND outputs harena)
  endif()
  # Built for whoever uses it.
  add_library(${target} STATIC EXCLUDE_FROM_ALL)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_DEPS})
  harena_generate(TARGET ${target} PROTOS ${arg_PROTOS} IMPORT_DIR ${arg_IMPORT_DIR}
                  OUTPUTS ${outputs})
endfunction()
