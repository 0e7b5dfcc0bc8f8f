package pb

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb/workloads/gtfspb"
	"github.com/harena-project/harena/go/pb/internal/testpb/workloads/tilepb"
)

// payload is a real message of the repository's testdata.
type payload struct {
	file    string
	message proto.Message // of its type
}

var payloads = []payload{
	{"mbta-vehicle-positions.pb", (*gtfspb.FeedMessage)(nil)},
	{"mbta-trip-updates.pb", (*gtfspb.FeedMessage)(nil)},
	{"osm-montevideo-12-1410-2472.mvt", (*tilepb.Tile)(nil)},
}

func (p payload) read(t testing.TB) []byte {
	t.Helper()
	wire, err := os.ReadFile(filepath.Join("..", "..", "testdata", p.file))
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// compareVerdict is compareDecoding without the comparison of what was accepted, which is most of its
// time: for many variants of a large input.
func compareVerdict(t *testing.T, a *arena.Arena, p payload, input []byte) (accepted bool) {
	t.Helper()
	mt := p.message.ProtoReflect().Type()
	wantErr := proto.Unmarshal(input, mt.New().Interface())
	err := Unmarshal(a, input, mt.New().Interface())
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s, %d bytes: protobuf says %v, we say %v", p.file, len(input), wantErr, err)
	}
	return err == nil
}

// TestPayloads: real messages, whole.
func TestPayloads(t *testing.T) {
	for _, p := range payloads {
		wire := p.read(t)
		var a arena.Arena
		for range 3 {
			compareDecoding(t, &a, p.message.ProtoReflect().Type(), wire)
			a.Reset()
		}
	}
}

// outermost returns where the fields of the outermost level end.
func outermost(t *testing.T, wire []byte) (ends []int) {
	t.Helper()
	for end := 0; end < len(wire); {
		_, _, n := protowire.ConsumeField(wire[end:])
		if n < 0 {
			t.Fatal("the payload is broken")
		}
		end += n
		ends = append(ends, end)
	}
	return ends
}

// TestPayloadsTruncated: cut at 2000 places. A prefix of these messages is a message itself if it ends
// where a field of the outermost level ends; protobuf is asked for some of them, as it takes its time.
func TestPayloadsTruncated(t *testing.T) {
	for _, p := range payloads {
		wire := p.read(t)
		r := rand.New(rand.NewPCG(1, uint64(len(wire))))
		whole := map[int]bool{0: true}
		var cuts []int
		for _, end := range outermost(t, wire) {
			whole[end] = true
			cuts = append(cuts, end, end-1)
		}
		r.Shuffle(len(cuts), func(i, j int) { cuts[i], cuts[j] = cuts[j], cuts[i] })
		cuts = cuts[:min(len(cuts), 200)]
		for len(cuts) < 2000 {
			cuts = append(cuts, r.IntN(len(wire)))
		}
		if slow() {
			cuts = cuts[:100]
		}
		var a arena.Arena
		for n, cut := range cuts {
			err := UnmarshalOptions{AllowPartial: true}.Unmarshal(&a, wire[:cut:cut], p.message.ProtoReflect().New().Interface())
			if (err == nil) != whole[cut] {
				t.Fatalf("%s cut at %d: %v", p.file, cut, err)
			}
			if n%20 == 0 {
				compareVerdict(t, &a, p, wire[:cut:cut])
			}
			a.Reset()
		}
	}
}

// TestPayloadTruncatedEverywhere: every entity of the small feed behind the feed's header, cut at
// every byte.
func TestPayloadTruncatedEverywhere(t *testing.T) {
	p := payloads[0]
	wire := p.read(t)
	ends := outermost(t, wire)
	header := wire[:ends[0]]
	for cut := range header {
		compareVerdict(t, new(arena.Arena), p, header[:cut:cut])
	}
	if slow() {
		ends = ends[:8]
	}
	var a arena.Arena
	input := make([]byte, 0, len(wire))
	for i, start := range ends[:len(ends)-1] {
		for cut := start; cut <= ends[i+1]; cut++ {
			input = append(append(input[:0], header...), wire[start:cut]...)
			compareVerdict(t, &a, p, input[:len(input):len(input)])
			a.Reset()
		}
	}
}

// TestPayloadsMutated: damaged in a few places.
func TestPayloadsMutated(t *testing.T) {
	for _, p := range payloads {
		wire := p.read(t)
		rounds := 20_000_000 / len(wire)
		if slow() {
			rounds /= 20
		}
		var a arena.Arena
		r := rand.New(rand.NewPCG(2, uint64(len(wire))))
		accepted := 0
		for n := range rounds {
			input := mutate(r, wire)
			if n%10 == 0 {
				compareDecoding(t, &a, p.message.ProtoReflect().Type(), input)
			} else if compareVerdict(t, &a, p, input) {
				accepted++
			}
			a.Reset()
		}
		t.Logf("%s: %d of %d were accepted", p.file, accepted, rounds)
	}
}
