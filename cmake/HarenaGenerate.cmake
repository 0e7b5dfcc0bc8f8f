# harena_generate: C++ from .proto files, with Harena's own generator beside protoc's. Part of the
# installed package: it is available after find_package(harena).
#
#   harena_generate(TARGET <target> PROTOS <a.proto>... IMPORT_DIR <dir>... [OUTPUTS cpp|codec|grpc|harena...])
#
# Runs protoc on each file and adds the results to <target>, whose users then find the headers on
# their include path.
#   IMPORT_DIR  directories in which `import` is resolved; the first one holds PROTOS.
#   OUTPUTS     default: cpp codec grpc harena
#                 cpp     <name>.pb.h, .pb.cc            (links protobuf::libprotobuf)
#                 codec   Harena's parser and serializer in these; needs cpp  (links harena::pb)
#                 grpc    <name>.grpc.pb.h, .grpc.pb.cc  (links gRPC::grpc++)
#                 harena  <name>.harena.grpc.h           (links harena::grpc)
# REQUIRES: called in the directory that creates <target>; each file stands below the first IMPORT_DIR.
include_guard(GLOBAL)

function(harena_generate)
  cmake_parse_arguments(arg "" "TARGET" "PROTOS;IMPORT_DIR;OUTPUTS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "harena_generate: unknown argument(s): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TARGET OR NOT arg_PROTOS OR NOT arg_IMPORT_DIR)
    message(FATAL_ERROR "harena_generate: TARGET, PROTOS and IMPORT_DIR are required")
  endif()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "harena_generate: there is no target `${arg_TARGET}`; create it first")
  endif()
  if(NOT arg_OUTPUTS)
    set(arg_OUTPUTS cpp codec grpc harena)
  endif()
  foreach(output IN LISTS arg_OUTPUTS)
    if(NOT output MATCHES "^(cpp|codec|grpc|harena)$")
      message(FATAL_ERROR
        "harena_generate: OUTPUTS knows cpp, codec, grpc and harena, not `${output}`")
    endif()
  endforeach()

  set(out_dir ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.gen)
  file(MAKE_DIRECTORY ${out_dir})
  set(flags)
  set(tools protobuf::protoc)
  set(import_dirs)
  foreach(dir IN LISTS arg_IMPORT_DIR)
    get_filename_component(dir ${dir} ABSOLUTE)
    list(APPEND import_dirs ${dir})
    list(APPEND flags -I${dir})
  endforeach()
  list(GET import_dirs 0 root)
  if("cpp" IN_LIST arg_OUTPUTS)
    list(APPEND flags --cpp_out=${out_dir})
    target_link_libraries(${arg_TARGET} PUBLIC protobuf::libprotobuf)
  endif()
  if("grpc" IN_LIST arg_OUTPUTS)
    list(APPEND flags --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>
         --grpc_out=${out_dir})
    list(APPEND tools gRPC::grpc_cpp_plugin)
    # Generated gRPC code calls abseil's mutex itself, and some packages of gRPC do not pass it on.
    target_link_libraries(${arg_TARGET} PUBLIC gRPC::grpc++ absl::synchronization)
  endif()
  set(parameters)
  if("codec" IN_LIST arg_OUTPUTS)
    if(NOT "cpp" IN_LIST arg_OUTPUTS)
      message(FATAL_ERROR "harena_generate: OUTPUTS codec writes into what cpp makes; name both")
    endif()
    list(APPEND parameters codec)
    target_link_libraries(${arg_TARGET} PUBLIC harena::pb)
  endif()
  if("harena" IN_LIST arg_OUTPUTS)
    list(APPEND parameters grpc)
    target_link_libraries(${arg_TARGET} PUBLIC harena::grpc)
  endif()
  if(parameters)
    list(JOIN parameters "," parameters)
    list(APPEND flags --plugin=protoc-gen-harena=$<TARGET_FILE:harena::protoc-gen-harena>
         --harena_out=${parameters}:${out_dir})
    list(APPEND tools harena::protoc-gen-harena)
  endif()

  set(protos)
  foreach(proto IN LISTS arg_PROTOS)
    get_filename_component(proto ${proto} ABSOLUTE)
    list(APPEND protos ${proto})
  endforeach()
  foreach(proto IN LISTS protos)
    file(RELATIVE_PATH name ${root} ${proto})
    if(name MATCHES "^\\.\\.")
      message(FATAL_ERROR "harena_generate: ${proto} is not below IMPORT_DIR ${root}")
    endif()
    string(REGEX REPLACE "\\.proto$" "" name ${name})
    set(sources)
    set(headers)
    if("cpp" IN_LIST arg_OUTPUTS)
      list(APPEND sources ${out_dir}/${name}.pb.cc)
      list(APPEND headers ${out_dir}/${name}.pb.h)
    endif()
    if("grpc" IN_LIST arg_OUTPUTS)
      list(APPEND sources ${out_dir}/${name}.grpc.pb.cc)
      list(APPEND headers ${out_dir}/${name}.grpc.pb.h)
    endif()
    if("harena" IN_LIST arg_OUTPUTS)
      list(APPEND headers ${out_dir}/${name}.harena.grpc.h)
    endif()
    add_custom_command(
      OUTPUT ${sources} ${headers}
      COMMAND protobuf::protoc ${flags} ${proto}
      DEPENDS ${protos} ${tools}  # one file may import another of the same call
      COMMENT "protoc ${name}.proto"
      VERBATIM)
    # Warnings in generated code are not for its user to mend.
    set_source_files_properties(${sources} PROPERTIES
      COMPILE_OPTIONS "-w;${HARENA_GENERATED_COMPILE_OPTIONS}")
    target_sources(${arg_TARGET} PRIVATE ${sources} ${headers})
  endforeach()
  target_include_directories(${arg_TARGET} SYSTEM PUBLIC $<BUILD_INTERFACE:${out_dir}>)
endfunction()
