#include "bench/workloads/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace harena::bench {

std::string DeterministicBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream raw(&bytes);
    google::protobuf::io::CodedOutputStream coded(&raw);
    coded.SetSerializationDeterministic(true);
    // Into a string it cannot fail.
    static_cast<void>(message.SerializePartialToCodedStream(&coded));
  }
  return bytes;
}

}  // namespace harena::bench
