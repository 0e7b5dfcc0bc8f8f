// Reads captured messages from files that may hold anything.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/io/zero_copy_stream.h>

namespace harena::bench {

/// One captured call.
struct Exchange {
  std::string source = {};  ///< Where it was found: a file's name, and which record of it.
  std::string method = {};  ///< "/package.Service/Method"; empty where the capture does not say.
  std::string request = {};
  std::optional<std::string> response = {};
};

/// What of a capture could not be used, and why.
struct CaptureProblem {
  std::string source;
  std::string what;
};

struct Capture {
  std::vector<Exchange> exchanges;  ///< Files in the order of their names.
  std::vector<CaptureProblem> problems;
};

/// Reads a directory (not those below it), or a single file:
///   *.harena-capture            records, as proto/harena/replay/v1/record.proto says
///   NAME.req.bin, NAME.resp.bin one message's wire bytes each, a request and its response
///   any other file FILE         a request's wire bytes; FILE.resp.bin is its response
/// Hidden files are passed over. What cannot be read is a problem, not an error; nothing is read
/// beyond `bytes_max` in sum. Throws std::runtime_error when `place` itself cannot be read.
Capture ReadCapture(const std::filesystem::path& place, size_t bytes_max);

/// The same of one file of records. What follows a damaged record cannot be found and is left.
void ReadRecords(google::protobuf::io::ZeroCopyInputStream& input, const std::string& source,
                 Capture& capture);

}  // namespace harena::bench
