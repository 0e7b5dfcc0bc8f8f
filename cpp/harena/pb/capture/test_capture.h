// What the adapters' tests of captures share. Not installed.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>

#include "harena/replay/v1/record.pb.h"

namespace harena::pb {

/// An empty folder for a test's captures, gone with it.
class CaptureFolder {
 public:
  CaptureFolder()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("harena_captures_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~CaptureFolder() { std::filesystem::remove_all(path_); }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  std::string path() const { return path_; }

  /// The records of all files, to be asked for when their Capture has ended.
  std::vector<replay::v1::Record> Written() const {
    std::vector<replay::v1::Record> records;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      google::protobuf::io::IstreamInputStream input(&file);
      bool ended = false;
      for (replay::v1::Record record;
           google::protobuf::util::ParseDelimitedFromZeroCopyStream(&record, &input, &ended);) {
        records.push_back(record);
        record.Clear();
      }
      EXPECT_TRUE(ended);
    }
    return records;
  }

 private:
  const std::filesystem::path path_;
};

}  // namespace harena::pb
