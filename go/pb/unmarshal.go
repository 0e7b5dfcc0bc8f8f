package pb

import (
	"math"
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/harena-project/harena/go/arena"
)

// Limits bounds what one message may take. It is checked while decoding, before memory is taken.
// Zero fields do not bound.
type Limits struct {
	// BytesMax is the most bytes of Go memory: structs, slices, strings and an estimate for maps.
	// Decoded messages are larger than their encoding, by a factor of several hundred in the worst
	// case. Where the codec leaves a message to protobuf (see Explain) the worst case is charged. The
	// arena may take more, for spare room in its chunks; the package comment says how much.
	BytesMax int64
	// DepthMax is how deep messages may nest. Without it protobuf's own limit of 10,000 holds. Unknown
	// fields are not entered and do not count.
	DepthMax int
	// TextCounted says that the caller has counted the copy of the strings already, with the length of
	// the whole input. Otherwise BytesMax and the arena's budget are charged that much for it.
	TextCounted bool
}

// UnmarshalOptions are protobuf's, with what an arena adds. The zero value does what [Unmarshal] does.
type UnmarshalOptions struct {
	// Merge keeps what is in the message instead of resetting it first.
	Merge bool
	// AllowPartial accepts messages that lack required fields.
	AllowPartial bool
	// DiscardUnknown drops unknown fields.
	DiscardUnknown bool
	// AliasInput lets strings point into the input instead of being copied. The input must
	// never change afterwards, as long as one of the strings is in use: a buffer that is reused
	// breaks strings that the program holds to be immutable. REQUIRES: the caller gives the input
	// away.
	AliasInput bool
	// Resolver finds extensions. Nil means protoregistry.GlobalTypes.
	Resolver interface {
		FindExtensionByName(field protoreflect.FullName) (protoreflect.ExtensionType, error)
		FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error)
	}
	Limits Limits
}

// Unmarshal decodes b into m, with everything that m will point to in the arena. It accepts, rejects
// and yields what proto.Unmarshal does.
//
// Lifetime rule: sub-messages, slices, maps and bytes belong to the arena and end with its Reset or
// Free. Strings do not: they are copied into a block of memory, valid for ever, and each of them keeps
// all strings of the message alive. b may be reused at once.
//
// Thread rule: that of the arena. A nil arena means the heap.
//
// Errors: errors.Is(err, proto.Error) for an input that protobuf does not accept either,
// errors.Is(err, ErrLimit) for one that crosses a limit. m is to be dropped then: it holds a part.
func Unmarshal(a *arena.Arena, b []byte, m proto.Message) error {
	return UnmarshalOptions{}.Unmarshal(a, b, m)
}

// Unmarshal is the function of the same name with options.
func (o UnmarshalOptions) Unmarshal(a *arena.Arena, b []byte, m proto.Message) error {
	return o.unmarshal(a, b, "", m)
}

// UnmarshalString decodes an input that cannot change: strings of m are parts of it, with no copy.
func (o UnmarshalOptions) UnmarshalString(a *arena.Arena, s string, m proto.Message) error {
	return o.unmarshal(a, unsafe.Slice(unsafe.StringData(s), len(s)), s, m)
}

func (o *UnmarshalOptions) unmarshal(a *arena.Arena, b []byte, text string, m proto.Message) error {
	if a == nil {
		a = arena.New()
	}
	t, m := resolve(m)
	if !o.Merge {
		proto.Reset(m)
	}
	unsure, err := o.unmarshalTable(a, b, text, t, m)
	if err == nil && unsure && t.needsInit && !o.AllowPartial {
		err = proto.CheckInitialized(m)
	}
	return err
}

// unmarshalTable decodes into a message whose table is known and which was reset. It also says whether
// something required may be missing.
func (o *UnmarshalOptions) unmarshalTable(a *arena.Arena, b []byte, text string, t *table, m proto.Message) (unsure bool, err error) {
	d := decoders.Get().(*decoder)
	*d = decoder{
		arena: a, root: t, buf: b, text: text, shared: text != "" || o.AliasInput,
		elements: d.elements, options: *o, left: math.MaxInt64, depth: o.Limits.DepthMax,
	}
	if o.AliasInput {
		d.text = unsafe.String(unsafe.SliceData(b), len(b))
	}
	if d.depth <= 0 {
		d.depth = protowire.DefaultRecursionLimit
	}
	if o.Limits.BytesMax > 0 {
		d.left = o.Limits.BytesMax
	}
	if t.goType == nil {
		// Not a generated struct: there is no pointer to start from.
		d.depth--
		if d.chargeProto(t, b) {
			d.mergeByProto(m, b, d.depth+1, t.extendable)
		}
	} else {
		d.message(t, pointerOf(m), 0, len(b), 0)
	}
	unsure, err = d.unsure || o.Merge || t.goType == nil, d.err
	d.learnTextShare()
	*d = decoder{elements: d.emptied()}
	decoders.Put(d)
	return unsure, err
}

// resolve returns the table of a message and the message itself: a type of the user's may embed a
// generated message and be one by that.
func resolve(m proto.Message) (*table, proto.Message) {
	reflection := m.ProtoReflect()
	t := tableOf(reflection)
	if t.goType == nil || reflect.TypeOf(m) == t.pointerType {
		return t, m
	}
	m = reflection.Interface()
	if reflect.TypeOf(m) != t.pointerType {
		return foreign, m
	}
	return t, m
}

// pointerOf returns the struct that a generated message is. REQUIRES: m is a pointer to a struct.
func pointerOf(m proto.Message) unsafe.Pointer {
	return (*interfaceWords)(unsafe.Pointer(&m)).data
}
