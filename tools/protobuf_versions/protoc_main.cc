// protoc with the generator of C++ and none of the others.
#include <google/protobuf/compiler/command_line_interface.h>
#include <google/protobuf/compiler/cpp/generator.h>

int main(int argc, char* argv[]) {
  google::protobuf::compiler::CommandLineInterface compiler;
  compiler.AllowPlugins("protoc-");
  google::protobuf::compiler::cpp::CppGenerator cpp;
  compiler.RegisterGenerator("--cpp_out", "--cpp_opt", &cpp, "Generate C++ header and source.");
  return compiler.Run(argc, argv);
}
