// Writers look at the room once for what follows each other. Wherever the block ends, the bytes
// have to be right; under AddressSanitizer, none may be written below the block.
#include <cstring>
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/codec/writer.h"
#include "harena/test/codec_extensions.pb.h"
#include "harena/test/codec_groups.pb.h"
#include "harena/test/codec_scalars.pb.h"
#include "harena/test/codec_scalars2.pb.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Each singular scalar of the number that takes most bytes; a string; messages down to `depth`.
void FillLargest(Message& message, int depth) {
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message.GetDescriptor()->field(i);
    if (field->is_repeated()) continue;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        reflection.SetInt32(&message, field, -1);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection.SetInt64(&message, field, -1);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        reflection.SetUInt32(&message, field, ~0U);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        reflection.SetUInt64(&message, field, ~uint64_t{0});
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        reflection.SetDouble(&message, field, -1.5);
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        reflection.SetFloat(&message, field, -1.5F);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection.SetBool(&message, field, true);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        reflection.SetEnumValue(&message, field, field->enum_type()->value(0)->number());
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        reflection.SetString(&message, field,
                             "as long as a length of one byte admits, or nearly so");
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth > 0) FillLargest(*reflection.MutableMessage(&message, field), depth - 1);
        break;
    }
  }
}

std::string StockBytes(const Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream string(&bytes);
  google::protobuf::io::CodedOutputStream stream(&string);
  stream.SetSerializationDeterministic(true);
  EXPECT_TRUE(message.SerializePartialToCodedStream(&stream));
  return bytes;
}

template <typename T>
class Room : public testing::Test {};

using Types = testing::Types<test::codec::Scalars3, test::codec::Scalars2, test::codec::Tags2,
                             test::codec::Groups, test::codec::Extended>;
TYPED_TEST_SUITE(Room, Types);

TYPED_TEST(Room, WhereverTheBlockEnds) {
  TypeParam message;
  FillLargest(message, 2);
  const std::string wanted = StockBytes(message);  // on the heap, where protobuf's own code writes
  ASSERT_GT(wanted.size(), 20u);

  PagePool pool(TestOptions());
  for (size_t left = 0; left < wanted.size() + 2 * Writer::kSlackBytes; ++left) {
    Writer writer(pool);
    uint8_t* to = writer.Begin(1);
    // All of the block but `left` bytes. Its size shows in that a byte more would move it.
    const uint8_t* const end = to;
    size_t block = 64 * kKiB - 2 * Writer::kSlackBytes;
    ASSERT_EQ(writer.Room(to, block), end);
    to -= block - left;
    std::memset(to, 'x', block - left);
    to = Access::Write(message, to, writer, 0);
    ASSERT_EQ(writer.BytesFrom(to), block - left + wanted.size());
    ASSERT_EQ(std::memcmp(to, wanted.data(), wanted.size()), 0) << left;
    ASSERT_EQ(static_cast<size_t>(message.GetCachedSize()), wanted.size());
  }
}

TYPED_TEST(Room, AFieldOfAnySizeAndTag) {
  for (int depth = 0; depth < 3; ++depth) {
    TypeParam message;
    FillLargest(message, depth);
    const std::string body = StockBytes(message);
    PagePool pool(TestOptions());
    for (const uint32_t tag : {2U, 0x7aU, 0x82U, 0xfffffffaU}) {
      Writer writer(pool);
      uint8_t* to = writer.Begin(1);
      to = Access::Write(message, to, writer, tag);
      std::string wanted;
      {
        google::protobuf::io::StringOutputStream string(&wanted);
        google::protobuf::io::CodedOutputStream stream(&string);
        stream.WriteTag(tag);
        stream.WriteVarint32(static_cast<uint32_t>(body.size()));
        stream.WriteString(body);
      }
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(to), writer.BytesFrom(to)), wanted);
    }
  }
}

}  // namespace
}  // namespace harena::pb::codec
