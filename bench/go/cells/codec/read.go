package codec

import (
	"math"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// The readers touch every field that is set and add up what they see, in any order. The readers of Go
// structs, in the files read_*.go, and the one through reflection give the same sum for the same
// message.

func ofText(s string) uint64 {
	if s == "" {
		return 0
	}
	return uint64(len(s)) + uint64(s[0])
}

func ofBytes(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(len(b)) + uint64(b[0])
}

func ofBool(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// ofFloat takes both widths: a float64 holds every float32.
func ofFloat[T float32 | float64](f T) uint64 { return math.Float64bits(float64(f)) }

func ofTextAt(s *string) uint64 {
	if s == nil {
		return 0
	}
	return ofText(*s)
}

func ofFloatAt[T float32 | float64](f *T) uint64 {
	if f == nil {
		return 0
	}
	return ofFloat(*f)
}

// ofNumberAt reads integers and enums.
func ofNumberAt[T ~int32 | ~int64 | ~uint32 | ~uint64](n *T) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

func ofBoolAt(b *bool) uint64 { return ofBool(b != nil && *b) }

// readReflected reads any message.
func readReflected(m protoreflect.Message) uint64 {
	r := &reflectedReader{}
	r.visit = r.field
	m.Range(r.visit)
	return r.sum
}

// reflectedReader holds the function that Range calls, made once: one for each message would cost the
// messages that have to be read this way more than they cost by themselves.
type reflectedReader struct {
	sum   uint64
	visit func(protoreflect.FieldDescriptor, protoreflect.Value) bool
}

func (r *reflectedReader) field(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
	switch {
	case field.IsMap():
		keys, values := field.MapKey(), field.MapValue()
		value.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			r.value(keys, key.Value())
			r.value(values, value)
			return true
		})
	case field.IsList():
		list := value.List()
		for i := range list.Len() {
			r.value(field, list.Get(i))
		}
	default:
		r.value(field, value)
	}
	return true
}

func (r *reflectedReader) value(field protoreflect.FieldDescriptor, value protoreflect.Value) {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		value.Message().Range(r.visit)
	case protoreflect.StringKind:
		r.sum += ofText(value.String())
	case protoreflect.BytesKind:
		r.sum += ofBytes(value.Bytes())
	case protoreflect.BoolKind:
		r.sum += ofBool(value.Bool())
	case protoreflect.EnumKind:
		r.sum += uint64(value.Enum())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		r.sum += ofFloat(value.Float())
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		r.sum += value.Uint()
	default:
		r.sum += uint64(value.Int())
	}
}
