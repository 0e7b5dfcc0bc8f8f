#include "bench/replay/capture_reader.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "harena/replay/v1/record.pb.h"

namespace harena::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecords = ".harena-capture";
constexpr std::string_view kRequest = ".req.bin";
constexpr std::string_view kResponse = ".resp.bin";

// The file that holds the request to which `response` belongs has one of two names.
std::vector<fs::path> RequestsOf(const fs::path& response) {
  std::string stem = response.string();
  stem.resize(stem.size() - kResponse.size());
  return {stem + std::string(kRequest), stem};
}

fs::path ResponseOf(const fs::path& request) {
  std::string stem = request.string();
  if (stem.ends_with(kRequest)) stem.resize(stem.size() - kRequest.size());
  return stem + std::string(kResponse);
}

bool HasMore(google::protobuf::io::ZeroCopyInputStream& input) {
  const void* data = nullptr;
  int size = 0;
  while (input.Next(&data, &size)) {
    if (size > 0) return true;
  }
  return false;
}

class DirectoryReader {
 public:
  explicit DirectoryReader(size_t bytes_max) : bytes_left_(bytes_max) {}

  void Read(const fs::path& file) {
    const std::string name = file.filename().string();
    std::error_code error;
    if (name.ends_with(kResponse)) {
      const std::vector<fs::path> requests = RequestsOf(file);
      if (std::ranges::none_of(requests, [&](const fs::path& r) { return exists(r, error); })) {
        Problem(name, "a response without its request, " + requests[0].filename().string());
      }
      return;
    }
    if (!Admit(file)) return;
    name.ends_with(kRecords) ? ReadRecordFile(file) : ReadMessageFile(file);
  }

  Capture Take() { return std::move(capture_); }

 private:
  void Problem(const std::string& source, std::string what) {
    capture_.problems.push_back({source, std::move(what)});
  }

  // Whether the file can be read, and its bytes are within the limit.
  bool Admit(const fs::path& file) {
    const std::string name = file.filename().string();
    std::error_code error;
    const uintmax_t bytes = file_size(file, error);
    if (error) {
      Problem(name, "cannot be read: " + error.message());
      return false;
    }
    if (bytes > bytes_left_) {
      Problem(name, "left out: its " + std::to_string(bytes) + " bytes are beyond what is read");
      return false;
    }
    bytes_left_ -= bytes;
    return true;
  }

  void ReadRecordFile(const fs::path& file) {
    const std::string name = file.filename().string();
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return Problem(name, std::string("cannot be read: ") + strerror(errno));
    google::protobuf::io::FileInputStream input(descriptor);
    input.SetCloseOnDelete(true);
    ReadRecords(input, name, capture_);
    if (input.GetErrno() != 0) {
      Problem(name, std::string("cannot be read to its end: ") + strerror(input.GetErrno()));
    }
  }

  std::optional<std::string> Bytes(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (stream.bad() || !stream.is_open()) {
      Problem(file.filename().string(), std::string("cannot be read: ") + strerror(errno));
      return std::nullopt;
    }
    return bytes;
  }

  void ReadMessageFile(const fs::path& file) {
    std::optional<std::string> request = Bytes(file);
    if (!request) return;
    Exchange exchange{.source = file.filename().string(), .request = *std::move(request)};
    const fs::path response = ResponseOf(file);
    std::error_code error;
    if (exists(response, error) && Admit(response)) exchange.response = Bytes(response);
    capture_.exchanges.push_back(std::move(exchange));
  }

  size_t bytes_left_;
  Capture capture_;
};

}  // namespace

void ReadRecords(google::protobuf::io::ZeroCopyInputStream& input, const std::string& source,
                 Capture& capture) {
  for (size_t number = 1;; ++number) {
    replay::v1::Record record;
    bool ended = false;
    const std::string place = source + ", record " + std::to_string(number);
    if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&record, &input, &ended)) {
      // A length that is no varint also passes for the end.
      if (!ended || HasMore(input)) {
        capture.problems.push_back(
            {place, "is cut off or damaged; it and what follows in the file is left out"});
      }
      return;
    }
    Exchange exchange{.source = place,
                      .method = std::move(*record.mutable_method()),
                      .request = std::move(*record.mutable_request())};
    if (record.has_response()) exchange.response = std::move(*record.mutable_response());
    capture.exchanges.push_back(std::move(exchange));
  }
}

Capture ReadCapture(const fs::path& place, size_t bytes_max) {
  std::error_code error;
  std::vector<fs::path> files;
  if (is_directory(place, error)) {
    for (auto entry = fs::directory_iterator(place, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const bool hidden = entry->path().filename().string().starts_with(".");
      std::error_code unknown;
      if (!hidden && !entry->is_directory(unknown)) files.push_back(entry->path());
    }
  } else if (exists(place, error)) {
    files.push_back(place);
  } else if (!error) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
  }
  if (error) {
    throw std::runtime_error("cannot read the capture " + place.string() + ": " + error.message());
  }
  std::ranges::sort(files);
  DirectoryReader reader(bytes_max);
  for (const fs::path& file : files) reader.Read(file);
  return reader.Take();
}

}  // namespace harena::bench
