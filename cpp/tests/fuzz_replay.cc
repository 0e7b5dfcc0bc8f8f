// Runs a fuzzer's body over files: `x_replay FOLDER...`, each with at least one input in it. The
// builds that have no libFuzzer hold the corpora with it.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// How many inputs there were. The name is printed first: a body that finds something ends the
// process.
int Replay(const std::filesystem::path& folder) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::printf("%s, %zu bytes\n", entry.path().c_str(), input.size());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    ++inputs;
  }
  return inputs;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s FOLDER...\n", arguments[0]);
    return 2;
  }
  for (int i = 1; i < count; ++i) {
    const int inputs = std::filesystem::is_directory(arguments[i]) ? Replay(arguments[i]) : 0;
    if (inputs == 0) {
      std::fprintf(stderr, "no inputs in %s\n", arguments[i]);
      return 1;
    }
    std::printf("%d inputs of %s, no finding\n", inputs, arguments[i]);
  }
  return 0;
}
