//go:build !race && !harena_debug

package pb

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
	"github.com/harena-project/harena/go/pb/internal/testpb/opaquepb"
)

// allocsOf are messages of everything that the codec does itself.
func allocsOf() []proto.Message {
	return []proto.Message{
		ranking(3),
		mapPairs(40),
		&testpb.MapValues{StringValue: map[string]string{"a": "b"}, PinValue: map[string]*testpb.Pin{"p": {Name: "n"}}, BoolValue: map[string]bool{"x": true}},
		&testpb.Oneofs{Before: "b", Choice: &testpb.Oneofs_StringValue{StringValue: "s"}, Second: &testpb.Oneofs_Right{Right: &testpb.Side{Name: "r"}}},
		&testpb.OptionalScalars{StringValue: proto.String("s"), Int64Value: proto.Int64(4), DoubleValue: proto.Float64(2), BytesValue: []byte("b")},
		&testpb.RepeatedScalars{StringValue: []string{"a", "b"}, Sint64Value: []int64{1, -2}, DoubleValue: []float64{1}, BytesValue: [][]byte{{1}}, PointValue: []*testpb.Point{{X: 1}, {Y: 2}}},
		&testpb.Groups{Single: &testpb.Groups_Single{Name: proto.String("g")}, Many: []*testpb.Groups_Many{{Key: proto.String("k")}, {}}},
		&testpb.Legacy{StringValue: proto.String("l"), LegacyValue: &testpb.Legacy{BoolValue: proto.Bool(true)}},
		opaquepb.Scalars_builder{StringValue: "s", Int64Value: 7, DoubleValue: 1.5}.Build(),
	}
}

// TestAllocations: decoding takes one allocation, the strings' text, and none where that is given;
// encoding takes one, the output, and none where that is given. On arenas and buffers in use, as a
// server has them. The race detector and the debug tag allocate for themselves.
func TestAllocations(t *testing.T) {
	for _, m := range allocsOf() {
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text := string(wire)
		a := arena.New()
		got := m.ProtoReflect().New().Interface()
		out := make([]byte, 0, 2*len(wire))
		check := func(what string, want float64, f func() error) {
			t.Helper()
			if allocs := testing.AllocsPerRun(100, func() {
				if err := f(); err != nil {
					t.Error(err)
				}
			}); allocs > want {
				t.Errorf("%T: %s makes %v allocations, want %v", m, what, allocs, want)
			}
		}
		decode := func(o UnmarshalOptions) func() error {
			return func() error {
				err := o.Unmarshal(a, wire, got)
				a.Reset()
				return err
			}
		}
		check("Unmarshal", 1, decode(UnmarshalOptions{}))
		check("Unmarshal with limits", 1, decode(UnmarshalOptions{Limits: Limits{BytesMax: 1 << 30, DepthMax: 50}}))
		check("Unmarshal with AliasInput", 0, decode(UnmarshalOptions{AliasInput: true}))
		check("UnmarshalString", 0, func() error {
			err := UnmarshalOptions{}.UnmarshalString(a, text, got)
			a.Reset()
			return err
		})
		check("Marshal", 1, func() error { _, err := Marshal(m); return err })
		check("MarshalAppend", 0, func() error { _, err := MarshalOptions{}.MarshalAppend(out, m); return err })
	}
}
