#include "plugin.h"

#include <utility>
#include <vector>

#include "codec_generator.h"
#include "installer_generator.h"

namespace harena::codegen {

bool Plugin::Generate(const google::protobuf::FileDescriptor* file, const std::string& parameter,
                      google::protobuf::compiler::GeneratorContext* context,
                      std::string* error) const {
  std::vector<std::pair<std::string, std::string>> outputs;
  google::protobuf::compiler::ParseGeneratorParameter(parameter, &outputs);
  if (outputs.empty()) outputs.emplace_back("grpc", "");
  for (const auto& [name, value] : outputs) {
    if ((name != "grpc" && name != "codec") || !value.empty()) {
      *error = "protoc-gen-harena knows the parameters `codec` and `grpc`, not `" + name +
               (value.empty() ? "" : "=" + value) + "`";
      return false;
    }
  }
  for (const auto& [name, value] : outputs) {
    const bool ok = name == "codec" ? CodecGenerator().Generate(*file, *context, error)
                                    : InstallerGenerator().Generate(*file, *context, error);
    if (!ok) return false;
  }
  return true;
}

}  // namespace harena::codegen
