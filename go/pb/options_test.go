package pb

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
	"github.com/harena-project/harena/go/pb/internal/testpb/opaquepb"
)

// compareOptions holds our decoding under options against protobuf's, starting from the same message.
func compareOptions(t *testing.T, a *arena.Arena, start proto.Message, input []byte, o UnmarshalOptions) {
	t.Helper()
	want, got := proto.Clone(start), proto.Clone(start)
	wantErr := proto.UnmarshalOptions{Merge: o.Merge, AllowPartial: o.AllowPartial, DiscardUnknown: o.DiscardUnknown,
		Resolver: o.Resolver, NoLazyDecoding: true}.Unmarshal(input, want)
	err := o.Unmarshal(a, input, got)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%T: %x: protobuf says %v, we say %v", start, input, wantErr, err)
	}
	if err == nil && !proto.Equal(want, got) {
		t.Fatalf("%T: %x:\nprotobuf %v\nwe       %v", start, input, want, got)
	}
}

// TestOptions: every option alone and with the others, on every type.
func TestOptions(t *testing.T) {
	var a arena.Arena
	r := rand.New(rand.NewPCG(5, 6))
	none := new(protoregistry.Types)
	for _, mt := range messageTypes() {
		for seed := range times(8) {
			start := makeRandom(mt, seed+100)
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				t.Fatal(err)
			}
			for bits := range 16 {
				o := UnmarshalOptions{Merge: bits&1 != 0, AllowPartial: bits&2 != 0, DiscardUnknown: bits&4 != 0}
				if bits&8 != 0 {
					o.Resolver = none
				}
				compareOptions(t, &a, start, wire, o)
				compareOptions(t, &a, start, mutate(r, wire), o)
			}
			a.Reset()
		}
	}
}

// TestDiscardUnknown: at every level, extensions kept.
func TestDiscardUnknown(t *testing.T) {
	unknown := []byte{0xfa, 0xff, 0x3f, 1, 'u'}
	nested := func(number protowire.Number, content ...byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	group := func(number protowire.Number, content ...byte) []byte {
		out := append(protowire.AppendTag(nil, number, protowire.StartGroupType), content...)
		return protowire.AppendTag(out, number, protowire.EndGroupType)
	}
	for _, c := range []struct {
		message proto.Message
		input   []byte
	}{
		{new(testpb.Deep), append(nested(1, unknown...), unknown...)},
		{new(testpb.Deep), nested(3, append(nested(2, unknown...), unknown...)...)},
		{new(testpb.Deep), nested(4, nested(2, unknown...)...)},
		{new(testpb.Groups), group(2, append(group(16, unknown...), unknown...)...)},
		{new(testpb.Extendable), append(nested(119, append(nested(2, unknown...), unknown...)...), unknown...)},
		{new(opaquepb.Lazy), nested(2, unknown...)},
		{new(evenMessage), append(nested(1, unknown...), nested(3, nested(2, unknown...)...)...)},
	} {
		for _, discard := range []bool{false, true} {
			compareOptions(t, new(arena.Arena), c.message, c.input, UnmarshalOptions{DiscardUnknown: discard})
			m := proto.Clone(c.message)
			if err := (UnmarshalOptions{DiscardUnknown: discard}).Unmarshal(arena.New(), c.input, m); err != nil {
				t.Fatal(err)
			}
			wire, err := Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(wire, unknown) == discard {
				t.Errorf("%T, discard %v: %x became %x", c.message, discard, c.input, wire)
			}
		}
	}
}

// countingResolver tells how often it was asked.
type countingResolver struct {
	*protoregistry.Types
	asked int
}

func (r *countingResolver) FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	r.asked++
	return r.Types.FindExtensionByNumber(message, field)
}

// TestResolver: extensions are what the resolver says they are, nested ones too.
func TestResolver(t *testing.T) {
	inner := new(testpb.Extendable)
	proto.SetExtension(inner, testpb.E_ExtString, "inside")
	outer := &testpb.Extendable{Inner: inner}
	proto.SetExtension(outer, testpb.E_ExtSelf, proto.Clone(inner))
	wire, err := proto.Marshal(outer)
	if err != nil {
		t.Fatal(err)
	}
	only := new(protoregistry.Types)
	if err := only.RegisterExtension(testpb.E_ExtSelf); err != nil {
		t.Fatal(err)
	}
	for _, bytesMax := range []int64{0, 1 << 20} {
		resolver := &countingResolver{Types: only}
		got := new(testpb.Extendable)
		if err := (UnmarshalOptions{Resolver: resolver, Limits: Limits{BytesMax: bytesMax}}).Unmarshal(arena.New(), wire, got); err != nil {
			t.Fatal(err)
		}
		if resolver.asked == 0 || !proto.HasExtension(got, testpb.E_ExtSelf) || proto.HasExtension(got.GetInner(), testpb.E_ExtString) {
			t.Errorf("asked %d times, made %v", resolver.asked, got)
		}
		compareOptions(t, new(arena.Arena), got, wire, UnmarshalOptions{Resolver: only})
	}
}

// TestUnknownOrder: unknown fields, fields that a message knows by another wire type, and extensions
// of the wrong wire type stay in the order in which they came.
func TestUnknownOrder(t *testing.T) {
	field := func(number protowire.Number, wire protowire.Type) []byte {
		b := protowire.AppendTag(nil, number, wire)
		switch wire {
		case protowire.VarintType:
			return append(b, 1)
		case protowire.Fixed32Type:
			return append(b, 1, 2, 3, 4)
		case protowire.Fixed64Type:
			return append(b, 1, 2, 3, 4, 5, 6, 7, 8)
		case protowire.StartGroupType:
			return protowire.AppendTag(b, number, protowire.EndGroupType)
		default:
			return append(b, 1, 'x')
		}
	}
	types := []protowire.Type{protowire.VarintType, protowire.Fixed32Type, protowire.Fixed64Type, protowire.BytesType, protowire.StartGroupType}
	numbers := []protowire.Number{1, 2, 3, 4, 50, 102, 113, 116, 150, 1002, 1016, 5000, 536870002}
	r := rand.New(rand.NewPCG(8, 9))
	var a arena.Arena
	for range 4000 {
		var input []byte
		for range 1 + r.IntN(8) {
			input = append(input, field(numbers[r.IntN(len(numbers))], types[r.IntN(len(types))])...)
		}
		compareDecoding(t, &a, (*testpb.Extendable)(nil).ProtoReflect().Type(), input)
		compareDecoding(t, &a, (*opaquepb.Lazy)(nil).ProtoReflect().Type(), input)
		compareDecoding(t, &a, (*testpb.OnlyExtensions)(nil).ProtoReflect().Type(), input)
		a.Reset()
	}
}

// TestRequired: a missing field is found wherever it is missing, and AllowPartial lets it pass.
func TestRequired(t *testing.T) {
	leaf := new(testpb.RequiredLeaf)
	withExtension := new(testpb.RequiredBelow)
	proto.SetExtension(withExtension, testpb.E_RequiredExtension, leaf)
	for _, m := range []proto.Message{
		leaf,
		&testpb.RequiredBelow{Single: leaf},
		&testpb.RequiredBelow{Many: []*testpb.RequiredLeaf{{Id: proto.Int32(1)}, leaf}},
		&testpb.RequiredBelow{ByName: map[string]*testpb.RequiredLeaf{"x": leaf}},
		&testpb.RequiredBelow{Choice: &testpb.RequiredBelow_Chosen{Chosen: leaf}},
		&testpb.RequiredBelow{Part: &testpb.RequiredBelow_Part{}},
		&testpb.RequiredBelow{Next: &testpb.RequiredBelow{Next: &testpb.RequiredBelow{Single: leaf}}},
		withExtension,
		&testpb.RequiredBelow{Next: withExtension},
		&testpb.RequiredGroup{Body: &testpb.RequiredGroup_Body{}},
	} {
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got := m.ProtoReflect().New().Interface()
		if err := Unmarshal(arena.New(), wire, got); !errors.Is(err, proto.Error) {
			t.Errorf("Unmarshal of %v: %v", m, err)
		}
		if _, err := Marshal(m); !errors.Is(err, proto.Error) {
			t.Errorf("Marshal of %v: %v", m, err)
		}
		if err := (UnmarshalOptions{AllowPartial: true}).Unmarshal(arena.New(), wire, got); err != nil || !proto.Equal(m, got) {
			t.Errorf("Unmarshal with AllowPartial of %v: %v, %v", m, got, err)
		}
		if again, err := (MarshalOptions{AllowPartial: true}).Marshal(m); err != nil || !bytes.Equal(again, wire) {
			t.Errorf("Marshal with AllowPartial of %v: %x, %v", m, again, err)
		}
	}
}

// TestUnmarshalString: an input that cannot change is not copied, and the empty ones are no trap.
func TestUnmarshalString(t *testing.T) {
	for _, m := range []proto.Message{new(testpb.Scalars), new(testpb.Groups), new(evenMessage), new(testpb.OnlyExtensions)} {
		for _, o := range []UnmarshalOptions{{}, {AliasInput: true}, {Merge: true}, {Limits: Limits{BytesMax: 1}}} {
			if err := o.UnmarshalString(arena.New(), "", m); err != nil {
				t.Errorf("%T, %+v: %v", m, o, err)
			}
			for _, input := range [][]byte{nil, {}, make([]byte, 0, 8)} {
				if err := o.Unmarshal(arena.New(), input, m); err != nil {
					t.Errorf("%T, %+v: %v", m, o, err)
				}
			}
		}
	}
	for _, mt := range messageTypes() {
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, 3))
		if err != nil {
			t.Fatal(err)
		}
		text := string(wire)
		want, got := mt.New().Interface(), mt.New().Interface()
		o := UnmarshalOptions{AllowPartial: true}
		if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(wire, want); err != nil {
			t.Fatal(err)
		}
		if err := o.UnmarshalString(arena.New(), text, got); err != nil || !proto.Equal(want, got) {
			t.Fatalf("%s: %v", mt.Descriptor().FullName(), err)
		}
		if text != string(wire) {
			t.Fatal(fmt.Sprint("the input changed: ", mt.Descriptor().FullName()))
		}
	}
}
