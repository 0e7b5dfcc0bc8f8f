package pb

import (
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/harena-project/harena/go/pb/internal/testpb"
	_ "github.com/harena-project/harena/go/pb/internal/testpb/hybridpb"
	_ "github.com/harena-project/harena/go/pb/internal/testpb/levelspb"
	_ "github.com/harena-project/harena/go/pb/internal/testpb/opaquepb"
	_ "github.com/harena-project/harena/go/pb/internal/testpb/workloads/benchpb"
	_ "github.com/harena-project/harena/go/pb/internal/testpb/workloads/gtfspb"
	_ "github.com/harena-project/harena/go/pb/internal/testpb/workloads/tilepb"
)

// messageTypes returns every generated message type that is linked into the test, map entries
// excepted, in a stable order.
func messageTypes() []protoreflect.MessageType {
	var all []protoreflect.MessageType
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		all = appendTypes(all, file.Messages())
		return true
	})
	sortTypes(all)
	return all
}

func appendTypes(all []protoreflect.MessageType, messages protoreflect.MessageDescriptors) []protoreflect.MessageType {
	for i := range messages.Len() {
		md := messages.Get(i)
		if md.IsMapEntry() {
			continue
		}
		mt, err := protoregistry.GlobalTypes.FindMessageByName(md.FullName())
		if err != nil {
			panic(err)
		}
		all = appendTypes(append(all, mt), md.Messages())
	}
	return all
}

// randomMessage fills a message of any type: every field with some probability, lists and maps
// short, nesting bounded, now and then unknown fields and extensions.
type randomMessage struct {
	*rand.Rand
	depthMax int
}

func (r randomMessage) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	density := r.Float64()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if fd.Cardinality() != protoreflect.Required && r.Float64() > density {
			continue
		}
		r.set(m, fd, depth)
	}
	if m.Descriptor().ExtensionRanges().Len() > 0 {
		protoregistry.GlobalTypes.RangeExtensionsByMessage(m.Descriptor().FullName(), func(xt protoreflect.ExtensionType) bool {
			if r.IntN(2) == 0 {
				r.set(m, xt.TypeDescriptor(), depth)
			}
			return true
		})
	}
	if r.IntN(8) == 0 {
		m.SetUnknown([]byte{0xfa, 0xff, 0x3f, 3, 'a', 'b', 'c'}) // field 131071, which nobody has
	}
}

func (r randomMessage) set(m protoreflect.Message, fd protoreflect.FieldDescriptor, depth int) {
	switch {
	case fd.IsList():
		list := m.Mutable(fd).List()
		for range r.IntN(5) {
			if fd.Message() == nil {
				list.Append(r.scalar(fd))
			} else if depth < r.depthMax {
				r.fill(list.AppendMutable().Message(), depth+1)
			}
		}
	case fd.IsMap():
		entries := m.Mutable(fd).Map()
		for range r.IntN(4) {
			key := r.scalar(fd.MapKey()).MapKey()
			if fd.MapValue().Message() == nil {
				entries.Set(key, r.scalar(fd.MapValue()))
			} else if depth < r.depthMax {
				r.fill(entries.Mutable(key).Message(), depth+1)
			}
		}
	case fd.Message() != nil:
		if depth < r.depthMax || fd.Cardinality() == protoreflect.Required {
			r.fill(m.Mutable(fd).Message(), depth+1)
		}
	default:
		m.Set(fd, r.scalar(fd))
	}
}

func (r randomMessage) scalar(fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.number()))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(r.number()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(r.number()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(r.number())
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(r.number()))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(r.float()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(r.float())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(r.string())
	default:
		return protoreflect.ValueOfBytes([]byte(r.string()))
	}
}

func (r randomMessage) number() int64 {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return int64(r.IntN(300)) - 100
	default:
		return int64(r.Uint64() >> r.IntN(64))
	}
}

func (r randomMessage) float() float64 {
	values := []float64{0, math.Copysign(0, -1), 1.5, math.Inf(1), math.MaxFloat64, -3}
	return values[r.IntN(len(values))]
}

func (r randomMessage) string() string {
	texts := []string{"", "a", "seven77", "eight888", "nine99999", "żółć", "a longer one, with 世界 in it, past sixteen bytes"}
	if r.IntN(20) == 0 {
		return string(make([]byte, r.IntN(300)))
	}
	return texts[r.IntN(len(texts))]
}

// makeRandom returns a random message of a type.
func makeRandom(mt protoreflect.MessageType, seed uint64) proto.Message {
	m := mt.New()
	randomMessage{rand.New(rand.NewPCG(seed, 1)), 3}.fill(m, 0)
	return m.Interface()
}
