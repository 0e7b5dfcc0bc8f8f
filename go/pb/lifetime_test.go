package pb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
	"github.com/harena-project/harena/go/pb/internal/testpb/opaquepb"
)

// TestInputMayChange: nothing of a message points into the input, unless it was asked to.
func TestInputMayChange(t *testing.T) {
	for _, mt := range messageTypes() {
		for seed := range uint64(6) {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				t.Fatal(err)
			}
			want, got := mt.New().Interface(), mt.New().Interface()
			if err := (proto.UnmarshalOptions{AllowPartial: true, NoLazyDecoding: true}).Unmarshal(wire, want); err != nil {
				t.Fatal(err)
			}
			input := bytes.Clone(wire)
			if err := (UnmarshalOptions{AllowPartial: true}).Unmarshal(arena.New(), input, got); err != nil {
				t.Fatal(err)
			}
			for i := range input {
				input[i] = 0xff
			}
			if !proto.Equal(want, got) {
				t.Fatalf("%s changes with its input", mt.Descriptor().FullName())
			}
		}
	}
}

// TestStringsLiveForEver: also when the arena was reset and used again, and when the garbage
// collector ran.
func TestStringsLiveForEver(t *testing.T) {
	a := arena.New()
	var kept, want []string
	for round := range 50 {
		text := fmt.Sprint("text of round ", round)
		wire, err := proto.Marshal(&testpb.Oneofs{Before: text, Second: &testpb.Oneofs_Left{Left: text + " left"}})
		if err != nil {
			t.Fatal(err)
		}
		m := arena.NewOf[testpb.Oneofs](a)
		if err := Unmarshal(a, wire, m); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, m.GetBefore(), m.GetLeft())
		want = append(want, strings.Clone(text), text+" left")
		a.Reset()
		runtime.GC()
	}
	if !reflect.DeepEqual(kept, want) {
		t.Fatalf("%q", kept)
	}
}

// TestRetain: a message outlives its arena when the arena was told so.
func TestRetain(t *testing.T) {
	for _, mt := range messageTypes() {
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, 11))
		if err != nil {
			t.Fatal(err)
		}
		other, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, 12))
		if err != nil {
			t.Fatal(err)
		}
		o := UnmarshalOptions{AllowPartial: true}
		a := arena.New()
		kept := mt.New().Interface()
		if err := o.Unmarshal(a, wire, kept); err != nil {
			t.Fatal(err)
		}
		want := mt.New().Interface()
		if err := (proto.UnmarshalOptions{AllowPartial: true, NoLazyDecoding: true}).Unmarshal(wire, want); err != nil {
			t.Fatal(err)
		}
		a.Retain()
		a.Reset()
		for range 3 {
			if err := o.Unmarshal(a, other, mt.New().Interface()); err != nil {
				t.Fatal(err)
			}
			a.Reset()
		}
		a.Free()
		if !proto.Equal(want, kept) {
			t.Fatalf("%s changed:\n%v\n%v", mt.Descriptor().FullName(), want, kept)
		}
	}
}

// TestAppendIsOnesOwn: the user's append to a decoded slice never writes what belongs to another.
func TestAppendIsOnesOwn(t *testing.T) {
	repeated := &testpb.RepeatedScalars{
		DoubleValue: []float64{1, 2}, BoolValue: []bool{true}, Int32Value: []int32{1, 2, 3}, Fixed64Value: []uint64{9},
		StringValue: []string{"a", "b"}, BytesValue: [][]byte{[]byte("x"), []byte("yy")},
		PointValue: []*testpb.Point{{X: 1}, {X: 2}, {X: 3}}, ToneValue: []testpb.Tone{1, 2},
	}
	wire, err := proto.Marshal(repeated)
	if err != nil {
		t.Fatal(err)
	}
	wire = append(wire, wire...) // the lists grow, and have room to spare
	wire = append(wire, wire...)
	var a arena.Arena
	first, second := new(testpb.RepeatedScalars), new(testpb.RepeatedScalars)
	for _, m := range []*testpb.RepeatedScalars{first, second} {
		if err := Unmarshal(&a, wire, m); err != nil {
			t.Fatal(err)
		}
	}
	want := proto.Clone(second)
	fields := reflect.ValueOf(first).Elem()
	for i := range fields.NumField() {
		if fields.Type().Field(i).Name == "unknownFields" || fields.Field(i).Kind() != reflect.Slice || fields.Field(i).Len() == 0 {
			continue
		}
		slice := fields.Field(i)
		room := slice.Slice(0, slice.Cap())
		for n := range room.Len() + 5 {
			slice = reflect.Append(slice, room.Index(n%room.Len()))
		}
	}
	for i := range first.BytesValue {
		_ = append(first.BytesValue[i], "far more than fits behind it"...)
	}
	if !proto.Equal(want, second) {
		t.Fatalf("an append changed another message: %v", second)
	}
}

// TestMergeIntoHeap: a message that the program built is merged into, shared parts and all.
func TestMergeIntoHeap(t *testing.T) {
	spare := make([]string, 1, 10)
	spare[0] = "first"
	inner := &testpb.Deep{Name: "inner"}
	start := &testpb.Deep{
		Next:     inner,
		Children: []*testpb.Deep{{Name: "child"}},
		ByName:   map[string]*testpb.Deep{"a": {Name: "a"}, "b": {Name: "b"}},
		Choice:   &testpb.Deep_Chosen{Chosen: &testpb.Deep{Number: 4}},
	}
	change := &testpb.Deep{
		Next:     &testpb.Deep{Number: 8},
		Children: []*testpb.Deep{{Name: "second"}, {Name: "third"}},
		ByName:   map[string]*testpb.Deep{"b": {Number: 1}, "c": {Name: "c"}},
		Choice:   &testpb.Deep_Chosen{Chosen: &testpb.Deep{Name: "chosen"}},
	}
	wire, err := proto.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	o := UnmarshalOptions{Merge: true}
	want := proto.Clone(start)
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(wire, want); err != nil {
		t.Fatal(err)
	}
	a, b := arena.New(), arena.New()
	if err := o.Unmarshal(a, wire, start); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(want, start) || start.Next != inner {
		t.Fatalf("merged %v, want %v", start, want)
	}
	// And once more, from another arena: one message, three owners.
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(wire, want); err != nil {
		t.Fatal(err)
	}
	if err := o.Unmarshal(b, wire, start); err != nil || !proto.Equal(want, start) {
		t.Fatalf("merged %v, want %v: %v", start, want, err)
	}
	compareEncoding(t, start)

	texts := &testpb.RepeatedScalars{StringValue: spare}
	wire, err = proto.Marshal(&testpb.RepeatedScalars{StringValue: []string{"second"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Unmarshal(a, wire, texts); err != nil || len(texts.StringValue) != 2 || texts.StringValue[1] != "second" {
		t.Fatalf("%v, %v", texts, err)
	}
}

// TestNothingStale: what an arena held in earlier rounds is not seen in later ones: every round's
// messages equal those from a fresh arena.
func TestNothingStale(t *testing.T) {
	types := messageTypes()
	r := rand.New(rand.NewPCG(21, 22))
	var a arena.Arena
	o := UnmarshalOptions{AllowPartial: true}
	for round := range 300 {
		for range 1 + r.IntN(8) {
			mt := types[r.IntN(len(types))]
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, r.Uint64()))
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(3) == 0 {
				wire = mutate(r, wire)
			}
			used, fresh := mt.New().Interface(), mt.New().Interface()
			err = o.Unmarshal(&a, wire, used)
			freshErr := o.Unmarshal(arena.New(), wire, fresh)
			if (err == nil) != (freshErr == nil) {
				t.Fatalf("round %d: %v in the old arena, %v in a new one", round, err, freshErr)
			}
			// Also what a failed decoding leaves.
			if !proto.Equal(used, fresh) {
				t.Fatalf("round %d, %s, %x:\nold %v\nnew %v", round, mt.Descriptor().FullName(), wire, used, fresh)
			}
			if proto.CheckInitialized(used) == nil {
				compareEncoding(t, used)
			}
		}
		a.Reset()
	}
}

// TestOneofWrapperByType: a wrapper is known by its type when the word that stands for the type is
// not the one that the table was built with.
func TestOneofWrapperByType(t *testing.T) {
	m := &testpb.Oneofs{Before: "b", Choice: &testpb.Oneofs_SideValue{SideValue: &testpb.Side{Name: "s"}}}
	t1 := tableOf(m.ProtoReflect())
	f := t1.find(2)
	altered := *f.oneof
	altered.members = nil
	for _, member := range f.oneof.members {
		altered.members = append(altered.members, oneofMember{itab: pointerOf(m), field: member.field})
	}
	if got := altered.memberOf(addressOf(pointerOf(m), f.offset)); got != t1.find(18) {
		t.Fatalf("found %v", got)
	}
}

// TestLazyPending: messages in which protobuf left fields undecoded are read, merged into and written.
func TestLazyPending(t *testing.T) {
	mt := (*opaquepb.Lazy)(nil).ProtoReflect().Type()
	for seed := range uint64(100) {
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
		if err != nil {
			t.Fatal(err)
		}
		more, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed+1000))
		if err != nil {
			t.Fatal(err)
		}
		partial := proto.UnmarshalOptions{AllowPartial: true, Merge: true}
		eager := proto.UnmarshalOptions{AllowPartial: true, Merge: true, NoLazyDecoding: true}
		o := UnmarshalOptions{AllowPartial: true, Merge: true}
		want, pending := mt.New().Interface(), mt.New().Interface()
		if err := eager.Unmarshal(wire, want); err != nil {
			t.Fatal(err)
		}
		if err := partial.Unmarshal(wire, pending); err != nil {
			t.Fatal(err)
		}
		got, err := MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(pending)
		wantWire, wantErr := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(want)
		if err != nil || wantErr != nil || len(got) != len(wantWire) {
			t.Fatalf("%x, %v; want %x, %v", got, err, wantWire, wantErr)
		}
		if err := eager.Unmarshal(more, want); err != nil {
			t.Fatal(err)
		}
		input := bytes.Clone(more)
		if err := o.Unmarshal(arena.New(), input, pending); err != nil {
			t.Fatal(err)
		}
		for i := range input {
			input[i] = 0xff
		}
		if !proto.Equal(want, pending) {
			t.Fatalf("merged %v, want %v", pending, want)
		}
	}
}
