package connectgo_test

import (
	"context"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestRequestOverTheDecodedRatio(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{DecodedRatioMax: 8, DecodedFloorBytes: 20_000})
	small := &testpb.Note{}
	for range 5_000 {
		small.Children = append(small.Children, &testpb.Note{})
	}
	client := f.client(t)
	_, err := client.Say(testContext(t), connect.NewRequest(small))
	wantCode(t, err, connect.CodeResourceExhausted, testpbconnect.EchoSayProcedure, "DecodedRatioMax is 8")
	say(t, client, echotest.New("honest"))
	if m := f.settled(t, "Say"); m.ScopesRefused != 1 || m.RefusedBy.DecodedRatioMax != 1 {
		t.Errorf("a refusal counts as %+v", m)
	}
}

// What does not fit into the process is refused, at the door and in the handler; then there is room.
func TestSafetyProcessLimit(t *testing.T) {
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		a := scope.From(ctx).Arena()
		if in.Text == "greedy" {
			arena.MakeSlice[byte](a, 2<<20, 2<<20)
		}
		return echotest.Shout(a, in), nil
	}}, connectgo.Options{})
	budget := scope.ProcessBudget()
	budget.SetBytesMax(budget.BytesUsed() + 1<<20)
	defer budget.SetBytesMax(0)
	client := f.client(t)
	for _, in := range []*testpb.Note{echotest.New("greedy"), {Text: strings.Repeat("x", 2<<20)}} {
		_, err := client.Say(testContext(t), connect.NewRequest(in))
		wantCode(t, err, connect.CodeResourceExhausted, testpbconnect.EchoSayProcedure, "ProcessBytesMax is", "more were wanted")
		say(t, client, echotest.New("there is room"))
	}
	if m := f.settled(t, "Say"); m.RefusedBy.ProcessBytesMax != 2 {
		t.Errorf("two refusals count as %+v", m)
	}
	t.Logf("safety: budgets_refused=2")
}

// connect bounds what it decompresses, while it does; ours holds for the decompressed bytes.
func TestDecompressedBytesAreBounded(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{RequestBytesMax: 100_000}, connect.WithReadMaxBytes(1<<20))
	client := testpbconnect.NewEchoClient(f.server.Client(), f.server.URL, connect.WithSendGzip())
	for bytes, what := range map[int]string{8 << 20: "larger than configured max", 500_000: "RequestBytesMax is 100000 bytes"} {
		_, err := client.Say(testContext(t), connect.NewRequest(&testpb.Note{Text: strings.Repeat("x", bytes)}))
		wantCode(t, err, connect.CodeResourceExhausted, what)
	}
}
