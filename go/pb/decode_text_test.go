package pb

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
)

// textsOf decodes wire in every way that strings can take.
func textsOf(t *testing.T, wire []byte) map[string]*testpb.RepeatedScalars {
	t.Helper()
	all := make(map[string]*testpb.RepeatedScalars)
	for way, decode := range map[string]func(*testpb.RepeatedScalars) error{
		"copied": func(m *testpb.RepeatedScalars) error { return Unmarshal(nil, wire, m) },
		"aliased": func(m *testpb.RepeatedScalars) error {
			return UnmarshalOptions{AliasInput: true}.Unmarshal(nil, wire, m)
		},
		"parts": func(m *testpb.RepeatedScalars) error { return UnmarshalOptions{}.UnmarshalString(nil, string(wire), m) },
	} {
		m := new(testpb.RepeatedScalars)
		want := proto.Unmarshal(wire, new(testpb.RepeatedScalars))
		if err := decode(m); (err == nil) != (want == nil) {
			t.Fatalf("%s: %v, protobuf says %v", way, err, want)
		} else if err == nil {
			all[way] = m
		}
	}
	return all
}

// TestTextOfAllLengths: strings of every length around those that are handled by the word, with
// something that is no ASCII at every place of them, at every distance from the input's end.
func TestTextOfAllLengths(t *testing.T) {
	for n := range 2*wordsBytes + 10 {
		for _, after := range []int{0, 1, wordsBytes / 2, wordsBytes, 3 * wordsBytes} {
			tail := strings.Repeat("t", after)
			for at := -1; at < n; at++ {
				for _, odd := range []string{"\xff", "é"} {
					text := []byte(strings.Repeat("a", n))
					if at >= 0 {
						copy(text[at:], odd) // "é" is cut off at the end
					}
					m := &testpb.RepeatedScalars{BytesValue: [][]byte{text, []byte(tail)}}
					wire, err := proto.Marshal(m)
					if err != nil {
						t.Fatal(err)
					}
					// The same fields as strings.
					field := (&testpb.RepeatedScalars{}).ProtoReflect().Descriptor().Fields()
					from, to := field.ByName("bytes_value").Number(), field.ByName("string_value").Number()
					wire = retag(wire, uint64(from)<<3|2, uint64(to)<<3|2)
					for way, got := range textsOf(t, wire) {
						if len(got.StringValue) != 2 || got.StringValue[0] != string(text) || got.StringValue[1] != tail {
							t.Fatalf("%s: %q of %q", way, got.StringValue, text)
						}
						if !utf8.Valid(text) {
							t.Fatalf("%s: %q is accepted", way, text)
						}
					}
					if at < 0 {
						break
					}
				}
			}
		}
	}
}

// retag gives the fields of a message another tag.
func retag(wire []byte, from, to uint64) []byte {
	var out []byte
	for i := 0; i < len(wire); {
		tag, next := varint(wire, i)
		if tag != from {
			panic("another field")
		}
		start, end := length(wire, next)
		out = appendVarint(out, to)
		out = append(out, wire[next:start]...)
		out = append(out, wire[start:end]...)
		i = end
	}
	return out
}

func appendVarint(b []byte, v uint64) []byte {
	room := make([]byte, 32)
	return append(b, room[putVarint(room, len(room), v):]...)
}

// TestBlocks: what was learned from earlier messages changes neither the strings of the next one nor
// what it may take, and only little of what it does take.
func TestBlocks(t *testing.T) {
	message := func(numbers, texts, textBytes int) *testpb.RepeatedScalars {
		m := &testpb.RepeatedScalars{DoubleValue: make([]float64, numbers)}
		for i := range texts {
			m.StringValue = append(m.StringValue, strings.Repeat(string(rune('a'+i%26)), textBytes))
		}
		return m
	}
	numbers, texts := message(5000, 3, 10), message(0, 3000, 20)
	mixed := []*testpb.RepeatedScalars{
		message(1, 0, 0), numbers, texts, message(2000, 500, 70), message(100, 2, 40_000), numbers, message(0, 1, 1), texts,
		message(500, 1000, 1), message(3000, 30, 3000),
	}
	var a arena.Arena
	for range 3 {
		for i, m := range mixed {
			wire, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			input := bytes.Clone(wire)
			got := new(testpb.RepeatedScalars)
			if err := Unmarshal(&a, input, got); err != nil {
				t.Fatal(err)
			}
			clear(input)
			if !proto.Equal(got, m) {
				t.Fatalf("message %d differs", i)
			}
			for k, text := range got.StringValue { // no neighbour was written over
				if text != m.StringValue[k] {
					t.Fatalf("message %d, string %d: %q", i, k, text)
				}
			}
			a.Reset()
		}
	}

	// A limit that one copy of the input fits into: it is charged for whatever is taken.
	limited := message(10, 100, 100)
	wire, err := proto.Marshal(limited)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := func() (all []bool) {
		for most := int64(len(wire)); most < int64(3*len(wire)); most += 16 {
			o := UnmarshalOptions{Limits: Limits{BytesMax: most}}
			err := o.Unmarshal(nil, wire, new(testpb.RepeatedScalars))
			if err != nil && !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			all = append(all, err == nil)
		}
		return all
	}
	before := verdicts()
	if before[0] || !before[len(before)-1] {
		t.Fatal("the limits are all too low or all too high")
	}
	for _, other := range []*testpb.RepeatedScalars{numbers, texts} {
		wire, err := proto.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if err := Unmarshal(nil, wire, new(testpb.RepeatedScalars)); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(before, verdicts()) {
			t.Error("what a limit admits depends on the messages before")
		}
	}
}

// TestBlocksHoldStringsOnly: of an input that is mostly numbers, strings take their own length.
func TestBlocksHoldStringsOnly(t *testing.T) {
	m := &testpb.RepeatedScalars{DoubleValue: make([]float64, 10_000), StringValue: []string{strings.Repeat("x", 1000)}}
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	a := arena.New()
	defer a.Free()
	d := &decoder{}
	table := tableOf(m.ProtoReflect())
	for range 2 {
		*d = decoder{arena: a, root: table, buf: wire, left: 1 << 30, depth: 100}
		if d.message(table, pointerOf(new(testpb.RepeatedScalars)), 0, len(wire), 0) < 0 {
			t.Fatal(d.err)
		}
		d.learnTextShare()
	}
	if d.blockBytes > len(wire)/10 {
		t.Errorf("%d bytes for 1000 of strings", d.blockBytes)
	}
}
