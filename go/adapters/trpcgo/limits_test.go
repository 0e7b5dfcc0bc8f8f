package trpcgo_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestRequestOverTheLimit(t *testing.T) {
	called := false
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		called = called || in.Text != "fits"
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, trpcgo.Options{RequestBytesMax: 100_000})

	_, err := f.client.Say(testContext(t), &testpb.Note{Text: strings.Repeat("x", 200_000)})
	wantCode(t, err, errs.RetServerOverload, sayName, "RequestBytesMax is 100000 bytes", "20000")

	// Small on the wire, large in memory.
	small := &testpb.Note{}
	for range 5_000 {
		small.Children = append(small.Children, &testpb.Note{})
	}
	_, err = f.client.Say(testContext(t), small)
	wantCode(t, err, errs.RetServerOverload, sayName, "RequestBytesMax is 100000 bytes", "10000 on the wire")

	say(t, f.client, echotest.New("fits")) // nothing else is harmed
	if called {
		t.Error("the handler was called with a refused request")
	}
	if m := f.settled(t, "Say"); m.ScopesRefused != 2 || m.ScopesStarted != 3 || m.ScopesRetained != 2 {
		t.Errorf("two refusals and a success count as %+v", m)
	}
}

func TestRequestOverTheDepthLimit(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{DepthMax: 4})
	deep := &testpb.Note{Text: "leaf"}
	for range 10 {
		deep = &testpb.Note{Children: []*testpb.Note{deep}}
	}
	_, err := f.client.Say(testContext(t), deep)
	wantCode(t, err, errs.RetServerDecodeFail, sayName, "DepthMax is 4 levels")
	say(t, f.client, echotest.New("flat"))
	if m := f.settled(t, "Say"); m.ScopesRefused != 1 {
		t.Errorf("a refusal counts as %+v", m)
	}
}

func TestHandlerOverTheLimit(t *testing.T) {
	for name, options := range map[string][]server.Option{
		"alone":                      nil,
		"behind a recovering filter": {server.WithFilter(recovering)},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				out := echotest.Shout(scope.From(ctx).Arena(), in)
				if in.Text == "greedy" {
					arena.MakeSlice[byte](scope.From(ctx).Arena(), 200_000, 200_000)
				}
				return out, nil
			}}, trpcgo.Options{RequestBytesMax: 100_000}, options...)
			_, err := f.client.Say(testContext(t), echotest.New("greedy"))
			wantCode(t, err, errs.RetServerOverload, sayName, "RequestBytesMax is 100000 bytes", "200000 more were wanted")
			say(t, f.client, echotest.New("modest"))
			if m := f.settled(t, "Say"); m.ScopesRefused != 1 || m.ScopesRetained != 1 {
				t.Errorf("a refusal and a success count as %+v", m)
			}
		})
	}
}

func TestLimitIsChangedWhileRunning(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{})
	in := echotest.New(strings.Repeat("x", 50_000))
	say(t, f.client, in)
	if err := f.SetRequestBytesMax(sayName, 20_000); err != nil {
		t.Fatal(err)
	}
	_, err := f.client.Say(testContext(t), in)
	wantCode(t, err, errs.RetServerOverload)
	if err := f.SetRequestBytesMax(sayName, 0); err != nil {
		t.Fatal(err)
	}
	say(t, f.client, in)
}

// Refused requests between good ones, many at once: each gets its own answer.
func TestRefusalsHarmNobodyElse(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{RequestBytesMax: 60_000})
	big := strings.Repeat("x", 100_000)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 50 {
				_, err := f.client.Say(testContext(t), &testpb.Note{Text: big})
				if errs.Code(err) != errs.RetServerOverload {
					t.Errorf("over the limit: %v", err)
					return
				}
				out, err := f.client.Say(testContext(t), echotest.New(fmt.Sprint("w", w, i)))
				if err != nil || out.Text != fmt.Sprint("W", w, i) {
					t.Errorf("%v, %v", out, err)
					return
				}
			}
		})
	}
	group.Wait()
	if m := f.settled(t, "Say"); m.ScopesRefused != 200 || m.ScopesStarted != 400 {
		t.Errorf("200 refusals in 400 calls count as %+v", m)
	}
}

func TestRequestOverTheDecodedRatio(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{DecodedRatioMax: 8, DecodedFloorBytes: 20_000})
	small := &testpb.Note{}
	for range 5_000 {
		small.Children = append(small.Children, &testpb.Note{})
	}
	_, err := f.client.Say(testContext(t), small)
	wantCode(t, err, errs.RetServerOverload, sayName, "DecodedRatioMax is 8")
	say(t, f.client, echotest.New("honest"))
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
	}}, trpcgo.Options{})
	budget := scope.ProcessBudget()
	budget.SetBytesMax(budget.BytesUsed() + 1<<20)
	defer budget.SetBytesMax(0)
	for _, in := range []*testpb.Note{echotest.New("greedy"), {Text: strings.Repeat("x", 2<<20)}} {
		_, err := f.client.Say(testContext(t), in)
		wantCode(t, err, errs.RetServerOverload, sayName, "ProcessBytesMax is", "more were wanted")
		say(t, f.client, echotest.New("there is room"))
	}
	if m := f.settled(t, "Say"); m.RefusedBy.ProcessBytesMax != 2 {
		t.Errorf("two refusals count as %+v", m)
	}
	t.Logf("safety: budgets_refused=2")
}
