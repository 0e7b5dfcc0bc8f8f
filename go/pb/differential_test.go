package pb

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/harena-project/harena/go/arena"
)

// slow reports whether to do less of the same: under -short, and in builds that check what the program
// does and take their time for it.
func slow() bool { return testing.Short() || raceEnabled || arena.Debug }

// times is how often to do the same.
func times(n uint64) uint64 {
	if slow() {
		return max(n/6, 1)
	}
	return n
}

func sortTypes(all []protoreflect.MessageType) {
	slices.SortFunc(all, func(a, b protoreflect.MessageType) int {
		return strings.Compare(string(a.Descriptor().FullName()), string(b.Descriptor().FullName()))
	})
}

// compareDecoding holds our verdict on an input, and what we made of it, against protobuf's.
func compareDecoding(t *testing.T, a *arena.Arena, mt protoreflect.MessageType, input []byte) {
	t.Helper()
	want := mt.New().Interface()
	wantErr := proto.UnmarshalOptions{NoLazyDecoding: true}.Unmarshal(input, want)
	got := mt.New().Interface()
	err := Unmarshal(a, input, got)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %x: protobuf says %v, we say %v", mt.Descriptor().FullName(), input, wantErr, err)
	}
	if err != nil {
		if !errors.Is(err, proto.Error) {
			t.Fatalf("%s: %v is no proto.Error", mt.Descriptor().FullName(), err)
		}
		return
	}
	if !proto.Equal(want, got) {
		t.Fatalf("%s: %x:\nprotobuf %v\nwe       %v", mt.Descriptor().FullName(), input, want, got)
	}
	compareEncoding(t, want)
	compareEncoding(t, got)
}

// compareEncoding holds our bytes against protobuf's.
func compareEncoding(t *testing.T, m proto.Message) {
	t.Helper()
	want, wantErr := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	got, err := MarshalOptions{Deterministic: true}.Marshal(m)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: protobuf says %v, we say %v", m.ProtoReflect().Descriptor().FullName(), wantErr, err)
	}
	if !bytes.Equal(want, got) || (want == nil) != (got == nil) {
		t.Fatalf("%s: %v:\nprotobuf %x\nwe       %x", m.ProtoReflect().Descriptor().FullName(), m, want, got)
	}
}

// TestRandomMessages: every type survives both ways.
func TestRandomMessages(t *testing.T) {
	for _, mt := range messageTypes() {
		t.Run(string(mt.Descriptor().FullName()), func(t *testing.T) {
			var a arena.Arena
			for seed := range times(60) {
				m := makeRandom(mt, seed)
				compareEncoding(t, m)
				wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				compareDecoding(t, &a, mt, wire)
				// Twice the same: merging, and lists that grow.
				compareDecoding(t, &a, mt, append(bytes.Clone(wire), wire...))
				a.Reset()
			}
		})
	}
}

// TestTruncated: cut anywhere, an input gets the verdict that protobuf gives it.
func TestTruncated(t *testing.T) {
	for _, mt := range messageTypes() {
		var a arena.Arena
		for seed := range times(4) {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				t.Fatal(err)
			}
			for n := range min(len(wire), 3000) {
				compareDecoding(t, &a, mt, wire[:n:n])
				a.Reset()
			}
		}
	}
}

// TestMutated: changed, doubled, swapped and cut out bytes.
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, mt := range messageTypes() {
		var a arena.Arena
		for seed := range times(10) {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				t.Fatal(err)
			}
			for range 60 {
				compareDecoding(t, &a, mt, mutate(r, wire))
				a.Reset()
			}
		}
	}
}

func mutate(r *rand.Rand, wire []byte) []byte {
	out := bytes.Clone(wire)
	for range 1 + r.IntN(3) {
		if len(out) == 0 {
			return append(out, byte(r.Uint32()))
		}
		i := r.IntN(len(out))
		j := min(len(out), i+r.IntN(20))
		switch r.IntN(6) {
		case 0:
			out[i] = byte(r.Uint32())
		case 1:
			out[i] ^= 1 << r.IntN(8)
		case 2:
			out = slices.Insert(out, i, byte(r.Uint32()))
		case 3:
			out = slices.Delete(out, i, j)
		case 4:
			out = slices.Insert(out, i, bytes.Clone(out[i:j])...)
		case 5:
			out = append(out, out[i:j]...)
		}
	}
	return out
}

// TestNoTableFallsBack: the types of the tests are all on the fast path, so that the tests above
// test it.
func TestNoTableFallsBack(t *testing.T) {
	for _, mt := range messageTypes() {
		if why := tableOf(mt.New()).fallback; why != "" {
			t.Errorf("%s: %s", mt.Descriptor().FullName(), why)
		}
	}
}
