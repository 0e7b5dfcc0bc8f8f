package pb

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
)

func even() *evenMessage {
	return &evenMessage{
		Child:    &oddMessage{Name: []byte("child"), Number: 1},
		Children: []*oddMessage{{Name: []byte("first")}, {}, {Number: 3}},
		ByName:   map[ownText]*oddMessage{"a": {Name: []byte("b")}, "": {}},
		Name:     "even",
		Blobs:    []ownBytes{[]byte("x"), {}},
		Next:     &evenMessage{Name: "next", Child: &oddMessage{Number: 9}},
	}
}

// TestHandmade: a type that keeps a field in its own way is left to protobuf, inside of one that has
// a table.
func TestHandmade(t *testing.T) {
	if why := tableOf((*oddMessage)(nil).ProtoReflect()).fallback; !strings.Contains(why, "field name") {
		t.Errorf("a string kept as bytes: %q", why)
	}
	if why := tableOf((*setMessage)(nil).ProtoReflect()).fallback; !strings.Contains(why, "message-set") {
		t.Errorf("a message set: %q", why)
	}
	for _, m := range []proto.Message{(*evenMessage)(nil), (*bareMessage)(nil)} {
		if why := tableOf(m.ProtoReflect()).fallback; why != "" {
			t.Errorf("%T: %s", m, why)
		}
	}
	var a arena.Arena
	r := rand.New(rand.NewPCG(3, 4))
	for _, m := range []proto.Message{even(), even().Child, &bareMessage{Name: "bare"}, &setMessage{}} {
		compareEncoding(t, m)
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		wire = append(wire, 0xfa, 0xff, 0x3f, 1, 'u')
		mt := m.ProtoReflect().Type()
		compareDecoding(t, &a, mt, wire)
		for n := range wire {
			compareDecoding(t, &a, mt, wire[:n])
		}
		for range 2000 {
			compareDecoding(t, &a, mt, mutate(r, wire))
			a.Reset()
		}
	}
}

// oldMessage is from before protobuf's second Go API.
type oldMessage struct {
	Name             *string       `protobuf:"bytes,1,opt,name=name"`
	Numbers          []int32       `protobuf:"varint,2,rep,name=numbers"`
	Point            *testpb.Point `protobuf:"bytes,3,opt,name=point"`
	Older            *oldMessage   `protobuf:"bytes,4,opt,name=older"`
	XXX_unrecognized []byte
}

func (m *oldMessage) Reset()         { *m = oldMessage{} }
func (m *oldMessage) String() string { return "old" }
func (*oldMessage) ProtoMessage()    {}

// TestOldMessage: such messages are left to protobuf.
func TestOldMessage(t *testing.T) {
	old := &oldMessage{Name: proto.String("n"), Numbers: []int32{1, 2}, Point: &testpb.Point{X: 3},
		Older: &oldMessage{Name: proto.String("o")}, XXX_unrecognized: []byte{0x78, 1}}
	m := protoadapt.MessageV2Of(old)
	compareEncoding(t, m)
	wire, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	got := new(oldMessage)
	if err := Unmarshal(arena.New(), wire, protoadapt.MessageV2Of(got)); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(m, protoadapt.MessageV2Of(got)) || got.Older.GetName() != "o" {
		t.Fatalf("%+v became %+v", old, got)
	}
}

func (m *oldMessage) GetName() string {
	if m == nil || m.Name == nil {
		return ""
	}
	return *m.Name
}

// request is a message by the message that it embeds. Its own memory is no message.
type request struct {
	guard [2]uint64
	*testpb.Oneofs
	after [2]uint64
}

type requestValue struct{ *testpb.Oneofs }

type requestReset struct {
	*testpb.Oneofs
	resets int
}

func (r *requestReset) Reset() { r.resets++ }

// TestEmbedded: what is decoded and encoded is the message, not the struct around it.
func TestEmbedded(t *testing.T) {
	want := &testpb.Oneofs{Before: "b", Choice: &testpb.Oneofs_SideValue{SideValue: &testpb.Side{Name: "n", Number: 7}}}
	wire, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	inner := &testpb.Oneofs{Before: "what was there"}
	r := &request{guard: [2]uint64{1, 2}, Oneofs: inner, after: [2]uint64{3, 4}}
	hooked := &requestReset{Oneofs: &testpb.Oneofs{Before: "what was there"}}
	for _, m := range []proto.Message{r, requestValue{&testpb.Oneofs{}}, *r, hooked} {
		if err := Unmarshal(arena.New(), wire, m); err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		if !proto.Equal(want, m) {
			t.Errorf("%T: %v", m, m)
		}
		got, err := Marshal(m)
		if err != nil || !bytes.Equal(got, wire) {
			t.Errorf("%T: %x, %v", m, got, err)
		}
	}
	if r.guard != [2]uint64{1, 2} || r.after != [2]uint64{3, 4} || r.Oneofs != inner {
		t.Error("the struct around the message changed")
	}
	if hooked.resets != 0 {
		t.Error("protobuf resets the message that is embedded")
	}
}

// TestDynamic: messages without generated code, of types that come and go, are protobuf's and leave
// no table behind.
func TestDynamic(t *testing.T) {
	before := tableCount()
	var a arena.Arena
	for _, mt := range messageTypes() {
		dynamic := dynamicpb.NewMessageType(mt.Descriptor())
		for seed := range uint64(3) {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				t.Fatal(err)
			}
			compareDecoding(t, &a, dynamic, wire)
			compareDecoding(t, &a, dynamic, wire[:len(wire)/2])
		}
	}
	if after := tableCount(); after != before {
		t.Errorf("%d tables are %d", before, after)
	}
}

func tableCount() (count int) {
	tables.Range(func(any, any) bool { count++; return true })
	return count
}

// uncomparable is a message type that no map may have as a key.
type uncomparable struct {
	protoreflect.MessageType
	_ []int
}

type strangeReflection struct{ protoreflect.Message }

func (s strangeReflection) Type() protoreflect.MessageType {
	return uncomparable{MessageType: s.Message.Type()}
}

type strangeMessage struct{ proto.Message }

func (s strangeMessage) ProtoReflect() protoreflect.Message {
	return strangeReflection{s.Message.ProtoReflect()}
}

// TestUncomparableType: nobody promised that a message type can be compared.
func TestUncomparableType(t *testing.T) {
	m := strangeMessage{dynamicpb.NewMessage((*testpb.Point)(nil).ProtoReflect().Descriptor())}
	if err := Unmarshal(arena.New(), []byte{8, 2}, m); err != nil {
		t.Fatal(err)
	}
	if wire, err := Marshal(m); err != nil || !bytes.Equal(wire, []byte{8, 2}) {
		t.Fatalf("%x, %v", wire, err)
	}
}

// panics reports whether f does.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestNilMessages: as protobuf has it.
func TestNilMessages(t *testing.T) {
	for _, m := range []proto.Message{nil, (*testpb.Scalars)(nil), requestValue{}, (*testpb.Groups)(nil), (*oddMessage)(nil)} {
		want, wantErr := proto.Marshal(m)
		got, err := Marshal(m)
		if (want == nil) != (got == nil) || len(got) != len(want) || (err == nil) != (wantErr == nil) {
			t.Errorf("Marshal of %T: %v, %v; protobuf %v, %v", m, got, err, want, wantErr)
		}
		for _, input := range [][]byte{nil, {8, 1}} {
			want := panics(func() { _ = proto.Unmarshal(input, m) })
			got := panics(func() { _ = Unmarshal(arena.New(), input, m) })
			if want != got {
				t.Errorf("Unmarshal of %x into %T panics: %v; protobuf's: %v", input, m, got, want)
			}
		}
	}
	out, err := (MarshalOptions{}).MarshalAppend([]byte("before"), nil)
	if err != nil || string(out) != "before" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestNilParts: messages that only a program makes: no decoder does.
func TestNilParts(t *testing.T) {
	for _, m := range []proto.Message{
		&testpb.RepeatedScalars{PointValue: []*testpb.Point{nil, {X: 1}, nil}},
		&testpb.LegacyRepeated{LegacyValue: []*testpb.Legacy{nil}, BytesValue: [][]byte{nil, {}, {1}}},
		&testpb.Groups{Many: []*testpb.Groups_Many{nil, {Key: proto.String("k")}}},
		&testpb.Oneofs{Choice: (*testpb.Oneofs_SideValue)(nil), Before: "x"},
		&testpb.Oneofs{Choice: &testpb.Oneofs_SideValue{}},
		&testpb.Oneofs{Choice: &testpb.Oneofs_BytesValue{}},
		&testpb.Groups{Choice: &testpb.Groups_Chosen_{}},
		&testpb.Scalars{BytesValue: []byte{}},
		&testpb.OptionalScalars{BytesValue: []byte{}},
		&evenMessage{Children: []*oddMessage{nil}, ByName: map[ownText]*oddMessage{"x": nil}},
	} {
		compareEncoding(t, m)
	}
}

// TestErrorsAreProtobufs: errors.Is finds proto.Error wherever protobuf's own error would be.
func TestErrorsAreProtobufs(t *testing.T) {
	for _, input := range []string{"\x08", "\x00", "\x72\x02\xff\xff", "\x0f", "\x0c"} {
		for _, m := range []proto.Message{new(testpb.Scalars), new(oddMessage), dynamicpb.NewMessage((*testpb.Scalars)(nil).ProtoReflect().Descriptor())} {
			wantErr := proto.Unmarshal([]byte(input), m)
			err := Unmarshal(arena.New(), []byte(input), m)
			if (err == nil) != (wantErr == nil) || errors.Is(err, proto.Error) != errors.Is(wantErr, proto.Error) {
				t.Errorf("%T, %x: %v; protobuf says %v", m, input, err, wantErr)
			}
		}
	}
	_, err := Marshal(&testpb.Scalars{StringValue: "\xff"})
	if !errors.Is(err, proto.Error) {
		t.Errorf("%v is no proto.Error", err)
	}
}
