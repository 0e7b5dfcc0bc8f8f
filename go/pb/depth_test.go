package pb

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
)

// nesting builds inputs of one shape at any depth.
type nesting struct {
	name    string
	message proto.Message
	make    func(levels int) []byte
	// protobuf's limit starts anew where an extension meets its end. Ours does not.
	endless bool
}

// wrapped returns n levels of a length-delimited field around each other, outermost last written.
func wrapped(levels int, tags ...protowire.Number) []byte {
	size := 0
	var sizes []int
	for i := range levels {
		tag := tags[(levels-1-i)%len(tags)]
		sizes = append(sizes, size)
		size = protowire.SizeTag(tag) + protowire.SizeBytes(size)
	}
	var out []byte
	for i := levels - 1; i >= 0; i-- {
		tag := tags[(levels-1-i)%len(tags)]
		out = protowire.AppendTag(out, tag, protowire.BytesType)
		out = protowire.AppendVarint(out, uint64(sizes[i]))
	}
	return out
}

// grouped returns n groups around each other.
func grouped(levels int, tag protowire.Number) []byte {
	var out []byte
	for range levels {
		out = protowire.AppendTag(out, tag, protowire.StartGroupType)
	}
	for range levels {
		out = protowire.AppendTag(out, tag, protowire.EndGroupType)
	}
	return out
}

var nestings = []nesting{
	{"message", new(testpb.Deep), func(n int) []byte { return wrapped(n, 1) }, false},
	{"list", new(testpb.Deep), func(n int) []byte { return wrapped(n, 2) }, false},
	{"map", new(testpb.Deep), func(n int) []byte { return wrapped(n, 3, 2) }, false},
	{"oneof", new(testpb.Deep), func(n int) []byte { return wrapped(n, 4) }, false},
	{"optional", new(testpb.Deep), func(n int) []byte { return wrapped(n, 6) }, false},
	{"mixed", new(testpb.Deep), func(n int) []byte { return wrapped(n, 1, 2, 4, 6, 3, 2) }, false},
	{"map of messages between", new(testpb.Ping), func(n int) []byte { return wrapped(n, 1, 2, 2) }, false},
	{"group", new(testpb.Groups), func(n int) []byte { return grouped(n, 1) }, false},
	{"implicit groups", new(testpb.Plain), func(n int) []byte { return grouped(n, 5) }, false},
	{"list of groups", new(testpb.Plain), func(n int) []byte { return grouped(n, 6) }, false},
	{"group in a oneof", new(testpb.Plain), func(n int) []byte { return grouped(n, 12) }, false},
	{"unknown groups", new(testpb.Scalars), func(n int) []byte { return grouped(n, 500) }, false},
	{"unknown groups of an extendable message", new(testpb.Extendable), func(n int) []byte { return grouped(n, 600) }, false},
	{"extensions", new(testpb.Extendable), func(n int) []byte { return wrapped(n, 119) }, true},
	{"extensions below messages", new(testpb.Extendable), func(n int) []byte { return wrapped(n, 2, 119, 3) }, true},
	{"lists of extensions", new(testpb.OnlyExtensions), func(n int) []byte { return wrapped(n, 16) }, true},
	{"a fall-back type below", new(evenMessage), func(n int) []byte {
		if n < 1 {
			return nil
		}
		return wrapped(n, append(numbersOf(n-1, 6), 1)...)
	}, false},
}

func numbersOf(n int, number protowire.Number) []protowire.Number {
	out := make([]protowire.Number, n)
	for i := range out {
		out[i] = number
	}
	return out
}

// TestDepth: the last depth that protobuf accepts and the first that it does not are ours too.
func TestDepth(t *testing.T) {
	for _, shape := range nestings {
		t.Run(shape.name, func(t *testing.T) {
			refused := 0
			for levels := protowire.DefaultRecursionLimit - 3; levels <= protowire.DefaultRecursionLimit+3; levels++ {
				input := shape.make(levels)
				wantErr := proto.Unmarshal(input, shape.message.ProtoReflect().New().Interface())
				err := Unmarshal(arena.New(), input, shape.message.ProtoReflect().New().Interface())
				if shape.endless {
					if refuse := levels >= protowire.DefaultRecursionLimit; (err != nil) != refuse {
						t.Fatalf("%d levels of extensions: %v", levels, err)
					}
				} else if (err == nil) != (wantErr == nil) {
					t.Fatalf("%d levels: protobuf says %v, we say %v", levels, wantErr, err)
				}
				if err != nil {
					refused++
					if !errors.Is(err, proto.Error) && errors.Is(wantErr, proto.Error) {
						t.Fatalf("%v is no proto.Error", err)
					}
				}
			}
			if refused == 0 || refused == 7 {
				t.Fatalf("%d of 7 depths around the limit are refused", refused)
			}
		})
	}
}

// TestDepthMax: the same decisions as protobuf's under its RecursionLimit, as a limit of ours. Groups
// that nobody knows are skipped, not entered.
func TestDepthMax(t *testing.T) {
	for _, shape := range nestings {
		for _, depthMax := range []int{1, 2, 3, 7, 100} {
			for levels := max(0, depthMax-4); levels <= depthMax+3; levels++ {
				input := shape.make(levels)
				wantErr := proto.UnmarshalOptions{RecursionLimit: depthMax}.Unmarshal(input, shape.message.ProtoReflect().New().Interface())
				err := UnmarshalOptions{Limits: Limits{DepthMax: depthMax}}.Unmarshal(arena.New(), input, shape.message.ProtoReflect().New().Interface())
				name := fmt.Sprintf("%s, %d levels of %d", shape.name, levels, depthMax)
				if shape.endless {
					if refuse := levels >= depthMax; (err != nil) != refuse {
						t.Fatalf("%s: %v", name, err)
					}
				} else if (err == nil) != (wantErr == nil) {
					t.Fatalf("%s: protobuf says %v, we say %v", name, wantErr, err)
				}
				if err == nil {
					continue
				}
				var limit *LimitError
				if !errors.Is(err, ErrLimit) || !errors.As(err, &limit) || limit.Limit != "DepthMax" || limit.Max != int64(depthMax) {
					t.Fatalf("%s: %v is no LimitError that says so", name, err)
				}
			}
		}
	}
}

// TestDepthBroken: an input that is broken and too deep at once gets an error either way.
func TestDepthBroken(t *testing.T) {
	for _, shape := range nestings {
		input := shape.make(20)
		for n := range input {
			wantErr := proto.UnmarshalOptions{RecursionLimit: 10}.Unmarshal(input[:n], shape.message.ProtoReflect().New().Interface())
			err := UnmarshalOptions{Limits: Limits{DepthMax: 10}}.Unmarshal(arena.New(), input[:n], shape.message.ProtoReflect().New().Interface())
			if (err == nil) != (wantErr == nil) && !(shape.endless && err != nil) {
				t.Fatalf("%s, %d bytes: protobuf says %v, we say %v", shape.name, n, wantErr, err)
			}
		}
	}
}

// TestDepthEncode: what can be decoded can be encoded.
func TestDepthEncode(t *testing.T) {
	for _, shape := range nestings {
		levels := protowire.DefaultRecursionLimit - 4 // a map's entry may gain a level: its empty value
		m := shape.message.ProtoReflect().New().Interface()
		if err := Unmarshal(arena.New(), shape.make(levels), m); err != nil {
			t.Fatalf("%s: %v", shape.name, err)
		}
		wire, err := Marshal(m)
		if err != nil {
			t.Fatalf("%s: %v", shape.name, err)
		}
		var back protoreflect.Message = shape.message.ProtoReflect().New()
		if err := proto.Unmarshal(wire, back.Interface()); err != nil {
			t.Fatalf("%s: %v", shape.name, err)
		}
	}
}

// TestDepthOfExtensions: protobuf would overflow the stack here, and end the process.
func TestDepthOfExtensions(t *testing.T) {
	const levels = 700_000
	for _, input := range [][]byte{wrapped(levels, 119), wrapped(levels, 2, 119), wrapped(levels, 3, 119, 119)} {
		if len(input) > 4<<20 {
			t.Fatalf("%d bytes are more than a server takes", len(input))
		}
		dynamic := dynamicpb.NewMessage((*testpb.Extendable)(nil).ProtoReflect().Descriptor())
		for _, m := range []proto.Message{new(testpb.Extendable), dynamic} {
			if err := Unmarshal(arena.New(), input, m); !errors.Is(err, proto.Error) {
				t.Errorf("%T: %v", m, err)
			}
		}
	}
}
