// protoc-gen-harena: run by protoc as `--harena_out=DIR`.
#include <cstdio>
#include <string_view>

#include <google/protobuf/compiler/plugin.h>

#include "plugin.h"

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h";
    std::fputs(
        "protoc-gen-harena generates C++ for Harena. protoc runs it; do not run it by hand:\n\n"
        "  protoc --plugin=protoc-gen-harena=PATH --cpp_out=DIR --harena_out=codec,grpc:DIR \\\n"
        "         --plugin=protoc-gen-grpc=PATH_OF_grpc_cpp_plugin --grpc_out=DIR name.proto\n\n"
        "  codec  puts a parser and a serializer into the classes that --cpp_out writes; needs "
        "the\n"
        "         same run and the same DIR\n"
        "  grpc   writes <name>.harena.grpc.h, the installer of the file's services (the "
        "default)\n\n"
        "With CMake: harena_generate(TARGET t PROTOS name.proto IMPORT_DIR dir).\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  const harena::codegen::Plugin plugin;
  return google::protobuf::compiler::PluginMain(argc, argv, &plugin);
}
