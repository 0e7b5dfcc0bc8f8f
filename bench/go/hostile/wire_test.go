package hostile_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/hostile"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
)

func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Valid, or the tests that send it would test the refusal of nonsense only; and of every kind some is
// refused by a limit that ordinary requests do not meet.
func TestWiresAreValidAndDear(t *testing.T) {
	for _, h := range hostile.All() {
		refused := 0
		for _, method := range []string{"Rank", "BoardFeed", "RestyleTile"} {
			md := workloads.NewRequest(method).ProtoReflect().Descriptor()
			for seed := range uint64(8) {
				wire := hostile.Wire(md, h, 20_000, dice(seed))
				if len(wire) < 10_000 || len(wire) > 200_000 {
					t.Errorf("%s, %v: %d bytes instead of about 20000", method, h, len(wire))
				}
				if err := proto.Unmarshal(wire, workloads.NewRequest(method)); err != nil {
					t.Errorf("%s, %v, %d: %v", method, h, seed, err)
				}
				a := arena.New()
				options := pb.UnmarshalOptions{Limits: pb.Limits{BytesMax: 4 * int64(len(wire))}}
				if err := options.Unmarshal(a, wire, workloads.NewRequest(method)); errors.Is(err, pb.ErrLimit) {
					refused++
				}
				a.Free()
			}
		}
		if refused == 0 {
			t.Errorf("%v: nothing takes four times its wire", h)
		}
	}
}

func TestTheSameDiceGiveTheSameWire(t *testing.T) {
	md := (&benchpb.RankRequest{}).ProtoReflect().Descriptor()
	if !bytes.Equal(hostile.Wire(md, hostile.Everything, 5000, dice(7)), hostile.Wire(md, hostile.Everything, 5000, dice(7))) {
		t.Error("two wires from the same dice differ")
	}
}

func TestBombs(t *testing.T) {
	request := &benchpb.RankRequest{}
	if err := proto.Unmarshal(hostile.EmptyMessages(4, 1000), request); err != nil || len(request.Groups) != 500 {
		t.Errorf("%d groups of 500: %v", len(request.Groups), err)
	}
	for levels, taken := range map[int]bool{64: true, 20_000: false} { // protobuf's own limit is 10,000
		if err := proto.Unmarshal(hostile.DeepGroups(levels), request); (err == nil) != taken {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
