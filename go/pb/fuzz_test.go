package pb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/harena-project/harena/go/arena"
)

// fuzzTypes are what the first argument of a fuzz test chooses from: every generated type, and the
// handmade ones.
func fuzzTypes() []protoreflect.MessageType {
	types := messageTypes()
	for _, m := range []proto.Message{(*evenMessage)(nil), (*oddMessage)(nil), (*bareMessage)(nil)} {
		types = append(types, m.ProtoReflect().Type())
	}
	return types
}

// seedDecoding adds inputs for the decoder: random messages of every type, and pieces of the real
// payloads.
func seedDecoding(f *testing.F, add func(choice uint16, wire []byte)) {
	types := fuzzTypes()
	for i, mt := range types {
		for seed := range uint64(2) {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				f.Fatal(err)
			}
			add(uint16(i), wire)
		}
	}
	for _, p := range payloads {
		wire, err := os.ReadFile(filepath.Join("..", "..", "testdata", p.file))
		if err != nil {
			f.Fatal(err)
		}
		for i, mt := range types {
			if mt.Descriptor().FullName() == p.message.ProtoReflect().Descriptor().FullName() {
				add(uint16(i), wire[:2000])
			}
		}
	}
	for _, shape := range nestings {
		for i, mt := range types {
			if mt.Descriptor().FullName() == shape.message.ProtoReflect().Descriptor().FullName() {
				add(uint16(i), shape.make(12))
			}
		}
	}
}

// FuzzDecode: any input gets the verdict that protobuf gives it, makes the same message, and that
// message the same bytes.
func FuzzDecode(f *testing.F) {
	types := fuzzTypes()
	seedDecoding(f, func(choice uint16, wire []byte) { f.Add(choice, wire) })
	f.Fuzz(func(t *testing.T, choice uint16, wire []byte) {
		var a arena.Arena
		mt := types[int(choice)%len(types)]
		compareDecoding(t, &a, mt, wire)
		compareOptions(t, &a, makeRandom(mt, uint64(len(wire))), wire, UnmarshalOptions{Merge: true, AllowPartial: true})
	})
}

// FuzzRoundTrip: any message that a program can build is written as protobuf writes it, and read back.
func FuzzRoundTrip(f *testing.F) {
	types := fuzzTypes()
	for i := range types {
		f.Add(uint16(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, choice uint16, seed uint64) {
		mt := types[int(choice)%len(types)]
		m := makeRandom(mt, seed)
		compareEncoding(t, m)
		wire, err := MarshalOptions{AllowPartial: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var a arena.Arena
		back := mt.New().Interface()
		if err := (UnmarshalOptions{AllowPartial: true}).Unmarshal(&a, wire, back); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(m, back) {
			t.Fatalf("%s: %v came back as %v", mt.Descriptor().FullName(), m, back)
		}
	})
}

// FuzzLimits: under limits an input is refused for them, or decoded as without; and it never takes
// more than the limits allow.
func FuzzLimits(f *testing.F) {
	types := fuzzTypes()
	seedDecoding(f, func(choice uint16, wire []byte) { f.Add(choice, uint16(len(wire)), uint8(4), wire) })
	f.Fuzz(func(t *testing.T, choice, bytesMax uint16, depthMax uint8, wire []byte) {
		mt := types[int(choice)%len(types)]
		limits := Limits{BytesMax: int64(bytesMax) + 1, DepthMax: int(depthMax) + 1}
		free, limited := mt.New().Interface(), mt.New().Interface()
		a := freshPool.Get()
		err := UnmarshalOptions{AllowPartial: true, Limits: limits}.Unmarshal(a, wire, limited)
		if used := a.Stats().BytesUsed; used > limits.BytesMax {
			t.Fatalf("%s: %d bytes are in use under %+v", mt.Descriptor().FullName(), used, limits)
		}
		freeErr := UnmarshalOptions{AllowPartial: true}.Unmarshal(arena.New(), wire, free)
		switch {
		case errors.Is(err, ErrLimit): // also for broken inputs: the limit may come first
		case (err == nil) != (freeErr == nil):
			t.Fatalf("%s: %v under %+v, %v without", mt.Descriptor().FullName(), err, limits, freeErr)
		case err == nil && !proto.Equal(free, limited):
			t.Fatalf("%s: %v under %+v, %v without", mt.Descriptor().FullName(), limited, limits, free)
		}
	})
}

// FuzzBudget: no input takes more than its request and its process may by more than a slab, nothing of
// it stays behind, and what is accepted is what protobuf reads. The input is repeated, as that is what
// costs its sender least.
func FuzzBudget(f *testing.F) {
	types := fuzzTypes()
	seedDecoding(f, func(choice uint16, wire []byte) {
		if len(wire)%2 == 0 {
			f.Add(choice, uint32(100*len(wire)), uint32(0), uint8(2), wire)
		} else {
			f.Add(choice, uint32(1<<20), uint32(50*len(wire)), uint8(3), wire)
		}
	})
	f.Fuzz(func(t *testing.T, choice uint16, bytesMax, processBytesMax uint32, doublings uint8, wire []byte) {
		for range doublings % 10 {
			if len(wire) > 32<<10 {
				break
			}
			wire = append(wire[:len(wire):len(wire)], wire...)
		}
		mt := types[int(choice)%len(types)]
		unlimited := UnmarshalOptions{AllowPartial: true}
		freeErr := unlimited.Unmarshal(arena.New(), wire, mt.New().Interface())
		_ = checkBudget(t, mt, wire, int64(bytesMax%(8<<20))+1, int64(processBytesMax%(8<<20)), freeErr)
	})
}
