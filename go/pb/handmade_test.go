//lint:file-ignore U1000 protobuf reads these fields by reflection.

package pb

import (
	"reflect"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/runtime/protoimpl"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Messages as protoc-gen-go does not make them, though protobuf takes them: what is kept otherwise
// than the codec knows must be left to protobuf, at any depth.

// oddMessage keeps a string as bytes.
type oddMessage struct {
	state         protoimpl.MessageState
	Name          []byte `protobuf:"bytes,1,opt,name=name,proto3"`
	Number        int64  `protobuf:"varint,2,opt,name=number,proto3"`
	unknownFields protoimpl.UnknownFields
	sizeCache     protoimpl.SizeCache
}

// evenMessage is laid out as usual, with types of its own; it holds odd ones.
type evenMessage struct {
	state         protoimpl.MessageState
	Child         *oddMessage             `protobuf:"bytes,1,opt,name=child,proto3"`
	Children      []*oddMessage           `protobuf:"bytes,2,rep,name=children,proto3"`
	ByName        map[ownText]*oddMessage `protobuf:"bytes,3,rep,name=by_name,json=byName,proto3" protobuf_key:"bytes,1,opt,name=key" protobuf_val:"bytes,2,opt,name=value"`
	Name          ownText                 `protobuf:"bytes,4,opt,name=name,proto3"`
	Blobs         []ownBytes              `protobuf:"bytes,5,rep,name=blobs,proto3"`
	Next          *evenMessage            `protobuf:"bytes,6,opt,name=next,proto3"`
	unknownFields protoimpl.UnknownFields
	sizeCache     protoimpl.SizeCache
}

type (
	ownText  string
	ownBytes []byte
)

// bareMessage has no room for unknown fields.
type bareMessage struct {
	state protoimpl.MessageState
	Name  string `protobuf:"bytes,1,opt,name=name,proto3"`
}

// setMessage has the message-set wire format.
type setMessage struct {
	state           protoimpl.MessageState
	extensionFields protoimpl.ExtensionFields
	unknownFields   protoimpl.UnknownFields
	sizeCache       protoimpl.SizeCache
}

func (m *oddMessage) Reset()          { *m = oddMessage{} }
func (m *evenMessage) Reset()         { *m = evenMessage{} }
func (m *bareMessage) Reset()         { *m = bareMessage{} }
func (m *setMessage) Reset()          { *m = setMessage{} }
func (m *oddMessage) String() string  { return protoimpl.X.MessageStringOf(m) }
func (m *evenMessage) String() string { return protoimpl.X.MessageStringOf(m) }
func (m *bareMessage) String() string { return protoimpl.X.MessageStringOf(m) }
func (m *setMessage) String() string  { return protoimpl.X.MessageStringOf(m) }
func (*oddMessage) ProtoMessage()     {}
func (*evenMessage) ProtoMessage()    {}
func (*bareMessage) ProtoMessage()    {}
func (*setMessage) ProtoMessage()     {}

func (m *oddMessage) ProtoReflect() protoreflect.Message  { return handmade()[0].MessageOf(m) }
func (m *evenMessage) ProtoReflect() protoreflect.Message { return handmade()[1].MessageOf(m) }
func (m *bareMessage) ProtoReflect() protoreflect.Message { return handmade()[2].MessageOf(m) }
func (m *setMessage) ProtoReflect() protoreflect.Message  { return handmade()[3].MessageOf(m) }

// handmade are the types of these messages, in registries of their own.
var handmade = sync.OnceValue(func() []protoimpl.MessageInfo {
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label, typeName string) *descriptorpb.FieldDescriptorProto {
		fd := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &label}
		if typeName != "" {
			fd.TypeName = &typeName
		}
		return fd
	}
	const (
		text     = descriptorpb.FieldDescriptorProto_TYPE_STRING
		message  = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
		one      = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		repeated = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	)
	raw, err := proto.Marshal(&descriptorpb.FileDescriptorProto{
		Name: proto.String("handmade.proto"), Package: proto.String("handmade"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("Odd"), Field: []*descriptorpb.FieldDescriptorProto{
				field("name", 1, text, one, ""),
				field("number", 2, descriptorpb.FieldDescriptorProto_TYPE_INT64, one, ""),
			}},
			{Name: proto.String("Even"), Field: []*descriptorpb.FieldDescriptorProto{
				field("child", 1, message, one, ".handmade.Odd"),
				field("children", 2, message, repeated, ".handmade.Odd"),
				field("by_name", 3, message, repeated, ".handmade.Even.ByNameEntry"),
				field("name", 4, text, one, ""),
				field("blobs", 5, descriptorpb.FieldDescriptorProto_TYPE_BYTES, repeated, ""),
				field("next", 6, message, one, ".handmade.Even"),
			}, NestedType: []*descriptorpb.DescriptorProto{{
				Name: proto.String("ByNameEntry"), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
				Field: []*descriptorpb.FieldDescriptorProto{
					field("key", 1, text, one, ""),
					field("value", 2, message, one, ".handmade.Odd"),
				},
			}}},
			{Name: proto.String("Bare"), Field: []*descriptorpb.FieldDescriptorProto{field("name", 1, text, one, "")}},
			{Name: proto.String("Set"), Options: &descriptorpb.MessageOptions{MessageSetWireFormat: proto.Bool(true)},
				ExtensionRange: []*descriptorpb.DescriptorProto_ExtensionRange{{Start: proto.Int32(4), End: proto.Int32(1 << 29)}}},
		},
	})
	if err != nil {
		panic(err)
	}
	infos := make([]protoimpl.MessageInfo, 5)
	protoimpl.TypeBuilder{
		File:    protoimpl.DescBuilder{RawDescriptor: raw, NumMessages: 5, FileRegistry: new(protoregistry.Files)},
		GoTypes: []any{(*oddMessage)(nil), (*evenMessage)(nil), (*bareMessage)(nil), (*setMessage)(nil), nil},
		// child, children, by_name, next, the map's value; then where each list of them starts.
		DependencyIndexes: []int32{0, 0, 4, 1, 0, 5, 5, 5, 5, 0},
		MessageInfos:      infos,
		TypeRegistry:      new(protoregistry.Types),
	}.Build()
	return infos
})

func TestHandmadeDescriptorsAreSound(t *testing.T) {
	info := handmade()[1].Descriptor().ParentFile()
	if got := info.Messages().Get(1).Fields().ByName("by_name").MapValue().Message().FullName(); got != "handmade.Odd" {
		t.Fatalf("the values of by_name are %s", got)
	}
	if reflect.TypeFor[*oddMessage]() != handmade()[0].GoReflectType {
		t.Fatal("the types are mixed up")
	}
}
