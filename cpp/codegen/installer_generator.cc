#include "installer_generator.h"

#include <map>
#include <memory>

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream.h>

namespace harena::codegen {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using google::protobuf::compiler::cpp::QualifiedClassName;
using google::protobuf::compiler::cpp::StripProto;
using google::protobuf::io::Printer;
using Variables = std::map<std::string, std::string>;

std::string CppNamespace(const FileDescriptor& file) {
  std::string name;
  for (const char c : file.package()) {
    if (c == '.') {
      name += "::";
    } else {
      name += c;
    }
  }
  return name;
}

const char* StreamKind(const MethodDescriptor& method) {
  if (method.client_streaming() && method.server_streaming()) return "bidirectional streaming";
  return method.client_streaming() ? "client streaming" : "server streaming";
}

void PrintUnary(const MethodDescriptor& method, Variables variables, Printer& out) {
  variables["request"] = QualifiedClassName(method.input_type());
  variables["response"] = QualifiedClassName(method.output_type());
  out.Print(
      variables,
      // The callback mixin may be there and overruled by another one around it.
      "  if constexpr (::harena::grpc::Mixes<Service, $service$::WithAsyncMethod_$method$,\n"
      "                                      $service$::WithRawMethod_$method$,\n"
      "                                      $service$::WithRawCallbackMethod_$method$,\n"
      "                                      $service$::WithGenericMethod_$method$,\n"
      "                                      $service$::WithStreamedUnaryMethod_$method$>) {\n"
      "    installer.Uncovered(\"$path$\",\n"
      "                        \"made asynchronous, raw, generic or streamed by a \"\n"
      "                        \"With...Method_$method$ of the service's class\");\n"
      "  } else if constexpr (::harena::grpc::Mixes<Service,\n"
      "                                             $service$::WithCallbackMethod_$method$>) {\n"
      // Through the part that declares the callback handler publicly, whatever access the
      // user's override has.
      "    auto* base = "
      "::harena::grpc::AsMixin<$service$::WithCallbackMethod_$method$>(&service);\n"
      "    installer.Unary<$request$,\n"
      "                    $response$>(\n"
      "        $index$, \"$path$\",\n"
      "        [base](::grpc::CallbackServerContext* context,\n"
      "               const $request$* request,\n"
      "               $response$* response) {\n"
      "          return base->$method$(context, request, response);\n"
      "        });\n"
      "  } else {\n"
      "    installer.Uncovered(\"$path$\", \"synchronous: derive the service from \"\n"
      "                        \"$service$::CallbackService\");\n"
      "  }\n");
}

void PrintService(const ServiceDescriptor& service, Printer& out) {
  Variables variables = {{"service", std::string(service.name())}};
  out.Print(variables,
            "/// Called by harena::grpc::Server, which finds it by the service's namespace.\n"
            "template <typename Service>\n"
            "  requires std::is_base_of_v<$service$::Service, Service>\n"
            "void HarenaInstall([[maybe_unused]] Service& service,\n"
            "                   [[maybe_unused]] ::harena::grpc::Installer& installer) {\n");
  for (int i = 0; i < service.method_count(); ++i) {
    const MethodDescriptor& method = *service.method(i);
    variables["method"] = std::string(method.name());
    variables["index"] = std::to_string(i);
    variables["path"] = "/" + std::string(service.full_name()) + "/" + variables["method"];
    if (method.client_streaming() || method.server_streaming()) {
      variables["kind"] = StreamKind(method);
      out.Print(
          variables,
          "  installer.Uncovered(\"$path$\",\n"
          "                      \"$kind$: use harena::grpc::StreamMessage where the handler \"\n"
          "                      \"owns the message\");\n");
    } else {
      PrintUnary(method, variables, out);
    }
  }
  out.Print("}\n\n");
}

}  // namespace

bool InstallerGenerator::Generate(const FileDescriptor& file,
                                  google::protobuf::compiler::GeneratorContext& context,
                                  std::string* /*error*/) const {
  const std::string base = StripProto(file.name());
  // A file without services gets a header too, so that build rules need not look inside.
  const std::unique_ptr<google::protobuf::io::ZeroCopyOutputStream> stream(
      context.Open(base + ".harena.grpc.h"));
  Printer out(stream.get(), '$');
  const Variables variables = {
      {"file", std::string(file.name())}, {"base", base}, {"namespace", CppNamespace(file)}};
  out.Print(variables,
            "// Generated by protoc-gen-harena from $file$. Do not edit.\n"
            "#pragma once\n\n");
  if (file.service_count() == 0) {
    out.Print("// The file has no services.\n");
    return true;
  }
  out.Print(variables,
            "#include <type_traits>\n\n"
            "#include \"$base$.grpc.pb.h\"\n"
            "#include \"harena/adapters/grpc/server.h\"\n\n");
  if (!variables.at("namespace").empty()) out.Print(variables, "namespace $namespace$ {\n\n");
  for (int i = 0; i < file.service_count(); ++i) PrintService(*file.service(i), out);
  if (!variables.at("namespace").empty()) out.Print(variables, "}  // namespace $namespace$\n");
  return !out.failed();
}

}  // namespace harena::codegen
