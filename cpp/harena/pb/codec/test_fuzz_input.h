// What the inputs of the fuzzers here are made of: some bytes that choose, then wire. Not
// installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harena/pb/codec/test_chunks.h"
#include "harena/pb/codec/test_subject.h"

namespace harena::pb::codec::test {

/// Each fuzzer has one, for itself and for mutator_fuzz.cc.
struct FuzzInputForm {
  size_t head_bytes;  ///< Of choices, of which the first one is the type.
  const std::vector<Subject>& (*subjects)();
};
extern const FuzzInputForm kFuzzInputForm;

/// One input, taken apart. Lifetime rule: the input's.
struct FuzzInput {
  const Subject* subject;
  const uint8_t* head;
  std::string_view wire;

  /// REQUIRES: there are as many bytes as the form's head has.
  FuzzInput(const uint8_t* data, size_t size, const FuzzInputForm& form)
      : subject(&form.subjects()[data[0] % form.subjects().size()]),
        head(data),
        wire(reinterpret_cast<const char*>(data) + form.head_bytes, size - form.head_bytes) {}
};

/// The whole of a fuzzer's LLVMFuzzerTestOneInput() but for `problem_of`, which says what is wrong
/// with an input, or nothing. What is wrong is printed, and ends the process. An input without a
/// whole head is passed over, and protobuf's log is silent: what it refuses is not worth a line.
int FuzzOne(const uint8_t* data, size_t size, std::string (*problem_of)(const FuzzInput&));

/// Sizes of pieces, a few of each kind.
const ChunkSizes& PiecesOf(uint8_t choice);

}  // namespace harena::pb::codec::test
