// An input whose messages are held to be no longer than it is.
#pragma once

#include <cstddef>

#include <google/protobuf/io/zero_copy_stream.h>

#include "harena/pb/wire/length_check.h"
#include "harena/pb/wire/refusing_stream.h"

#if HARENA_CODEC
namespace harena::pb::wire {

/// Gives out another stream's bytes in the pieces that a LengthCheck wants, with some zeros behind
/// them. A message that says to be longer than the input by more than is unnoticed ends it, and so
/// the parse.
/// Thread rule: the scope's thread. Lifetime rule: `input` and the tags must outlive it; when it
/// ends, `input` goes on behind what was read.
class CheckedStream : public RefusingStream {
 public:
  CheckedStream(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                const LengthTags* tags,
                size_t unnoticed_bytes = LengthCheck::kUnnoticedBytes) noexcept
      : RefusingStream(input, wire_bytes), check_(tags, wire_bytes, unnoticed_bytes) {}
  ~CheckedStream() override;

  /// Who reads from it, from its beginning.
  void Watch(google::protobuf::internal::ParseContext& context) noexcept {
    padded_ = check_.Watch(context);
  }
  /// Whether a message was longer than the input; whatever the parser says then, it is malformed.
  bool lied() const noexcept { return check_.lied(); }

  bool Next(const void** data, int* size) final;
  void BackUp(int count) final;

 protected:
  /// How much may be given out of the `bytes_left` that are left; 0 for a refusal, which it notes.
  virtual size_t Allowed(size_t bytes_left) noexcept { return bytes_left; }

 private:
  bool NextOfPad(const void** data, int* size) noexcept;

  LengthCheck check_;
  bool padded_ = false;
  size_t pad_bytes_ = 0;  // given out, of the zeros behind the end
  // What has come and was not given out, or was given back.
  const char* chunk_ = nullptr;
  size_t chunk_bytes_ = 0;
};

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
