// The program under test of protobuf's conformance suite; --help says what it does, and
// CMakeLists.txt how it is built.
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "handler.h"
#include "protocol.h"

namespace {

using harena::testee::FrameStatus;
using harena::testee::Route;

constexpr const char* kHelp =
    R"(conformance_testee [--open | --stock] [--chunk-bytes=N]

Speaks protobuf's conformance protocol on its standard input and output: protobuf's
conformance_test_runner starts it. By default Harena's codec parses wire into a scope, as a message
that is only read.

  --open           the codec parses into an ordinary message of the scope, one that may be changed
  --stock          protobuf alone, messages on the heap: what to compare with
  --chunk-bytes=N  parse wire that comes in pieces of N bytes
  --help           this text

Exit code: 0 at the end of the input, 1 when the input is not the protocol, 2 for a wrong option.
)";

/// What did the work, for the line at the end.
const char* Name(const Route& route) {
  if (route.kind == Route::Kind::kStock) return "stock";
  if (!harena::testee::HasCodec()) return "stock on scopes: this build has no codec";
  return route.kind == Route::Kind::kFrozen ? "codec" : "codec, open messages";
}

/// False when `argument` is no option.
bool Apply(std::string_view argument, Route& route) {
  constexpr std::string_view kChunkBytes = "--chunk-bytes=";
  if (argument == "--open") {
    route.kind = Route::Kind::kOpen;
  } else if (argument == "--stock") {
    route.kind = Route::Kind::kStock;
  } else if (argument.starts_with(kChunkBytes)) {
    argument.remove_prefix(kChunkBytes.size());
    const char* const end = argument.data() + argument.size();
    const auto [stopped, error] = std::from_chars(argument.data(), end, route.chunk_bytes);
    return error == std::errc() && stopped == end && route.chunk_bytes > 0;
  } else {
    return false;
  }
  return true;
}

int Serve(const Route& route) {
  std::string request;
  uint64_t served = 0;
  FrameStatus status;
  while ((status = harena::testee::ReadFrame(stdin, request)) == FrameStatus::kRead) {
    if (!harena::testee::WriteFrame(stdout, harena::testee::Answer(request, route))) {
      std::perror("conformance_testee: writing an answer");
      return 1;
    }
    ++served;
  }
  std::fprintf(stderr, "conformance_testee: %llu requests served (%s)\n",
               static_cast<unsigned long long>(served), Name(route));
  if (status == FrameStatus::kEnd) return 0;
  const std::string_view problem = harena::testee::Problem(status);
  std::fprintf(stderr, "conformance_testee: %.*s\n", static_cast<int>(problem.size()),
               problem.data());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Route route;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    // Some versions of the runner pass the program's own name once more.
    if (i == 1 && argument == argv[0]) continue;
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (!Apply(argument, route)) {
      std::fprintf(stderr, "conformance_testee: unknown option `%s`\n%s", argv[i], kHelp);
      return 2;
    }
  }
  // A runner that went away is an error to report, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  return Serve(route);
}
