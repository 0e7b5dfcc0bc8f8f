package inbound

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/apipb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/typepb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

// FuzzDecoder: two messages of one RPC, under limits of any kind. Each is decoded as protobuf decodes
// it, refused and left empty, or an error where protobuf has one; and the RPC's memory stays below what
// its limits allow by no more than a slab.
func FuzzDecoder(f *testing.F) {
	types := []proto.Message{&structpb.Struct{}, &structpb.ListValue{}, &apipb.Api{}, &typepb.Type{}, &wrapperspb.BytesValue{}}
	list, err := structpb.NewList([]any{"text", 1.0, map[string]any{"key": []any{nil, true}}})
	if err != nil {
		f.Fatal(err)
	}
	data, err := proto.Marshal(list)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(1), uint16(0), uint16(0), uint8(0), uint8(0), data, []byte(nil))
	f.Add(uint8(1), uint16(50), uint16(0), uint8(3), uint8(2), data, data)
	f.Add(uint8(1), uint16(500), uint16(900), uint8(1), uint8(0), bytes.Repeat(data, 20), data)
	f.Add(uint8(4), uint16(500), uint16(0), uint8(0), uint8(0), []byte("\x0a\x05bytes"), []byte("\x0a\xff"))
	f.Fuzz(func(t *testing.T, choice uint8, requestMax, processMax uint16, ratioMax, depthMax uint8, first, second []byte) {
		limits := scope.Options{
			RequestBytesMax: int64(requestMax) * 16,
			DecodedRatioMax: float64(ratioMax),
			DepthMax:        int(depthMax),
		}
		process := &arena.Budget{Name: "ProcessBytesMax"}
		process.SetBytesMax(int64(processMax) * 16)
		d := decoder(limits)
		d.Arena.SetBudget(process)
		for _, data := range [][]byte{first, second} {
			d.Expect()
			checkDecoder(t, d, data, types[int(choice)%len(types)].ProtoReflect().New().Interface())
			if taken := d.Arena.BytesTaken(); limits.RequestBytesMax > 0 && taken > limits.RequestBytesMax+slabBytes {
				t.Fatalf("%d bytes are taken under %+v", taken, limits)
			}
		}
		if !d.Close() {
			t.Fatal("the decoder is still busy")
		}
		if inTime, _ := d.Unmarshal(first, types[0].ProtoReflect().New().Interface()); inTime {
			t.Fatal("decoded after Close")
		}
		d.Arena.Free()
		if used := process.BytesUsed(); used != 0 {
			t.Fatalf("%d bytes of the process do not come back", used)
		}
	})
}

// slabBytes is the largest slab that an arena of less than a megabyte takes at once.
const slabBytes = 64 << 10

func checkDecoder(t *testing.T, d *Decoder, data []byte, m proto.Message) {
	t.Helper()
	expected := m.ProtoReflect().New().Interface()
	wantErr := proto.Unmarshal(data, expected)
	inTime, err := d.Unmarshal(data, m)
	switch {
	case !inTime || !d.Decoded():
		t.Fatal("not decoded, although nobody closed it")
	case d.Refusal() != nil:
		if limits := d.Limits; limits.RequestBytesMax == 0 && limits.DecodedRatioMax == 0 && limits.DepthMax == 0 && d.Arena.OverBudget() == nil {
			t.Fatalf("refused without a limit: %v", d.Refusal())
		}
		if err != nil || proto.Size(m) != 0 {
			t.Fatalf("refused, with %v and %v", err, m)
		}
	case (err == nil) != (wantErr == nil):
		t.Fatalf("%v, but protobuf says %v", err, wantErr)
	case err == nil && !proto.Equal(expected, m):
		t.Fatalf("%v, but protobuf makes %v", m, expected)
	}
}
