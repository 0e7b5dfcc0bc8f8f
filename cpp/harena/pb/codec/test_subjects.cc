#include <cstdlib>

#include <google/protobuf/any.pb.h>
#include <google/protobuf/api.pb.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/source_context.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/type.pb.h>
#include <google/protobuf/wrappers.pb.h>

#include "harena/bench/v1/demo.pb.h"
#include "harena/bench/v1/ranking.pb.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/test/codec_code_size.pb.h"
#include "harena/test/codec_extensions.pb.h"
#include "harena/test/codec_groups.pb.h"
#include "harena/test/codec_imports.pb.h"
#include "harena/test/codec_maps.pb.h"
#include "harena/test/codec_maps2.pb.h"
#include "harena/test/codec_names.pb.h"
#include "harena/test/codec_outer.pb.h"
#include "harena/test/codec_plain.pb.h"
#include "harena/test/codec_scalars.pb.h"
#include "harena/test/codec_scalars2.pb.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/shapes2.pb.h"
#include "harena/test/wide.pb.h"
#include "transit_realtime/gtfs_realtime.pb.h"
#include "vector_tile/vector_tile.pb.h"

namespace harena::pb::codec::test {
namespace {

template <typename... Types>
std::vector<Subject> SubjectsOf() {
  return {SubjectOf<Types>()...};
}

std::vector<Subject> MakeSubjects() {
  using namespace harena::test::codec;
  // Not after `using namespace`: C++ does not like all of these names.
  namespace names = harena::test::codec;
  return SubjectsOf<
      // codec_scalars.proto, codec_scalars2.proto
      Scalars3, Part3, Unpacked3, Oneof3, Empty3, Scalars2, Part2, Oneof2, Tags2, Required2,
      Required2_Inner, Empty2, Options2,
      // codec_maps.proto, codec_maps2.proto
      MapKeys3, MapValues3, MapKeys2, MapValues2,
      // codec_groups.proto, codec_extensions.proto
      Groups, Groups_Single, Groups_Single_Deeper, Groups_Many, Groups_Chosen, Groups_Other,
      Groups_Far, Groups_Farther, Extended, Extended_Scope, ExtGroup, ExtGroups, Set, Member,
      OtherMember, HasSet,
      // codec_imports.proto, codec_names.proto
      Imports, WellKnown, Keywords, Locals, CamelCase, names::Builder, names::Builder_Writer,
      names::Builder_Writer_codec, names::delete_,
      // Without the codec: codec_code_size.proto, codec_plain.proto, codec_outer.proto
      Small, plain::Plain, Outer, Outer_Inside,
      // shapes.proto, shapes2.proto, wide.proto
      harena::test::Shapes, harena::test::Leaf, harena::test::KeptWithPresence,
      harena::test::DroppedWithoutPresence, harena::test::DroppedInOneof,
      harena::test::DroppedBelow, harena::test::DroppedBelow_Middle, harena::test::KeptRecursive,
      harena::test::KeptScalars, harena::test::DroppedOnlyInMap, harena::test::Shapes2,
      harena::test::Shapes2_Entry, harena::test::DroppedInOneof2, harena::test::WideList,
      harena::test::Wide,
      // The workloads
      bench::v1::RankRequest, bench::v1::RankResponse, bench::v1::FeedBoard,
      transit_realtime::FeedMessage, vector_tile::Tile>();
}

std::vector<Subject> MakeAllSubjects() {
  using namespace google::protobuf;
  std::vector<Subject> all = Subjects();
  for (const Subject& subject : {SubjectOf<Any>(),
                                 SubjectOf<Api>(),
                                 SubjectOf<Method>(),
                                 SubjectOf<Mixin>(),
                                 SubjectOf<Duration>(),
                                 SubjectOf<Empty>(),
                                 SubjectOf<FieldMask>(),
                                 SubjectOf<SourceContext>(),
                                 SubjectOf<Struct>(),
                                 SubjectOf<Value>(),
                                 SubjectOf<ListValue>(),
                                 SubjectOf<Timestamp>(),
                                 SubjectOf<Type>(),
                                 SubjectOf<Field>(),
                                 SubjectOf<Enum>(),
                                 SubjectOf<EnumValue>(),
                                 SubjectOf<Option>(),
                                 SubjectOf<DoubleValue>(),
                                 SubjectOf<BoolValue>(),
                                 SubjectOf<Int64Value>(),
                                 SubjectOf<StringValue>(),
                                 SubjectOf<BytesValue>(),
                                 SubjectOf<FileDescriptorSet>(),
                                 SubjectOf<FileDescriptorProto>(),
                                 SubjectOf<DescriptorProto>(),
                                 SubjectOf<FileOptions>(),
                                 SubjectOf<SourceCodeInfo>(),
                                 SubjectOf<GeneratedCodeInfo>(),
                                 SubjectOf<UninterpretedOption>()}) {
    all.push_back(subject);
  }
  return all;
}

}  // namespace

const std::vector<Subject>& Subjects() {
  static const auto* subjects = new std::vector<Subject>(MakeSubjects());
  return *subjects;
}

const std::vector<Subject>& AllSubjects() {
  static const auto* subjects = new std::vector<Subject>(MakeAllSubjects());
  return *subjects;
}

const Subject& SubjectNamed(std::string_view full_name) {
  for (const Subject& subject : Subjects()) {
    if (subject.name() == full_name) return subject;
  }
  std::abort();
}

}  // namespace harena::pb::codec::test
