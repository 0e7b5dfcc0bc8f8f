package pb

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/harena-project/harena/go/arena"
)

// A table is built from what generated code happens to look like. Before it is used it is held
// against protobuf itself: every field is set, by reflection, in a message of its own, which then has
// to survive our encoder and our decoder. A type that does not is left to protobuf.

// check compares the table with protobuf and falls back on it where they disagree.
func (t *table) check() {
	if t.fallback != "" {
		return
	}
	fields := t.mt.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !t.agrees(fd) {
			t.special = true
			t.fallback = "field " + string(fd.Name()) + ": the generated code is not laid out as this version of Harena expects"
			return
		}
	}
}

func (t *table) agrees(fd protoreflect.FieldDescriptor) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false // protobuf does not like the type either
		}
	}()
	m := t.mt.New()
	setProbe(m, fd)
	want, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m.Interface())
	if err != nil {
		return false
	}
	got, err := MarshalOptions{AllowPartial: true, Deterministic: true}.appendTable(nil, t, m.Interface())
	if err != nil || string(got) != string(want) {
		return false
	}
	decoded := t.mt.New().Interface()
	a := arena.New()
	a.Retain()
	defer a.Free()
	o := UnmarshalOptions{AllowPartial: true}
	_, err = o.unmarshalTable(a, want, "", t, decoded)
	return err == nil && proto.Equal(m.Interface(), decoded)
}

// setProbe sets one field of m to something that is not its default.
func setProbe(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	switch {
	case fd.IsList():
		list := m.Mutable(fd).List()
		if fd.Message() != nil {
			list.AppendMutable()
			list.AppendMutable()
		} else {
			list.Append(probeValue(fd))
			list.Append(probeValue(fd))
		}
	case fd.IsMap():
		entries := m.Mutable(fd).Map()
		key := probeValue(fd.MapKey()).MapKey()
		if fd.MapValue().Message() != nil {
			entries.Mutable(key)
		} else {
			entries.Set(key, probeValue(fd.MapValue()))
		}
	case fd.Message() != nil:
		m.Mutable(fd)
	default:
		m.Set(fd, probeValue(fd))
	}
}

// probeValue returns a value whose bytes are all different, as far as the kind allows, and which is
// hardly anybody's default.
func probeValue(fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!fd.HasDefault() || !fd.Default().Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(0x01020304)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(-0x01020304)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(0xf1020304)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(-0x0102030405060708)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(0xf102030405060708)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(-1.7182818)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(-1.718281828459045)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("probe")
	default:
		return protoreflect.ValueOfBytes([]byte("probe"))
	}
}
