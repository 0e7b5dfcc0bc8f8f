#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/messages/runner.h"

namespace CLI {
class App;
}

namespace harena::bench {

/// What a program of the message benchmark measures; all else is the same in each of them.
struct MessageProgram {
  std::string name;
  /// Declares the flags that say which traffic.
  std::function<void(CLI::App&)> declare;
  /// Called once, when all flags have been read. Exceptions end the program with their message.
  std::function<std::unique_ptr<Traffic>()> load;
  std::vector<std::string> modes;        ///< What is measured when --modes does not say.
  std::vector<std::string> other_modes;  ///< What --modes may name besides.
};

/// Runs it: one traffic, one allocator (whatever is preloaded), one JSON object on standard output.
/// Returns what main() is to return.
int RunMessageProgram(const MessageProgram& program, int argc, char** argv);

}  // namespace harena::bench
