package grpcgo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

const sayName = testpb.Echo_Say_FullMethodName

func TestRequestOverTheLimit(t *testing.T) {
	called := false
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		called = true
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, grpcgo.Options{RequestBytesMax: 100_000})

	_, err := f.client.Say(testContext(t), &testpb.Note{Text: strings.Repeat("x", 200_000)})
	wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 100000 bytes", "20000")

	// Small on the wire, large in memory.
	small := &testpb.Note{}
	for range 5_000 {
		small.Children = append(small.Children, &testpb.Note{})
	}
	_, err = f.client.Say(testContext(t), small)
	wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 100000 bytes", "10000 on the wire")

	if called {
		t.Error("the handler was called with a refused request")
	}
	say(t, f.client, echotest.New("fits")) // nothing else is harmed
	if m := f.settled(t, "Say"); m.ScopesRefused != 2 || m.ScopesStarted != 3 {
		t.Errorf("two refusals and a success count as %+v", m)
	}
}

func TestRequestOverTheDepthLimit(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{DepthMax: 4})
	deep := &testpb.Note{Text: "leaf"}
	for range 10 {
		deep = &testpb.Note{Children: []*testpb.Note{deep}}
	}
	_, err := f.client.Say(testContext(t), deep)
	wantCode(t, err, codes.ResourceExhausted, sayName, "DepthMax is 4 levels")
	say(t, f.client, echotest.New("flat"))
	if m := f.settled(t, "Say"); m.ScopesRefused != 1 {
		t.Errorf("a refusal counts as %+v", m)
	}
}

func TestHandlerOverTheLimit(t *testing.T) {
	recovering := grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (out any, err error) {
			defer func() {
				if p := recover(); p != nil {
					err = status.Errorf(codes.Internal, "recovered %v", p)
				}
			}()
			return handler(ctx, req)
		})
	for name, options := range map[string][]grpc.ServerOption{
		"alone":                           nil,
		"behind a recovering interceptor": {recovering},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				out := echotest.Shout(scope.From(ctx).Arena(), in)
				if in.Text == "greedy" {
					arena.MakeSlice[byte](scope.From(ctx).Arena(), 200_000, 200_000)
				}
				return out, nil
			}}, grpcgo.Options{RequestBytesMax: 100_000}, options...)
			_, err := f.client.Say(testContext(t), echotest.New("greedy"))
			wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 100000 bytes", "200000 more were wanted")
			say(t, f.client, echotest.New("modest"))
			if m := f.settled(t, "Say"); m.ScopesRefused != 1 || m.ScopesRetained != 1 {
				t.Errorf("a refusal and a success count as %+v", m)
			}
		})
	}
}

func TestLimitIsChangedWhileRunning(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	in := echotest.New(strings.Repeat("x", 50_000))
	say(t, f.client, in)
	if err := f.SetRequestBytesMax(sayName, 20_000); err != nil {
		t.Fatal(err)
	}
	_, err := f.client.Say(testContext(t), in)
	wantCode(t, err, codes.ResourceExhausted)
	if err := f.SetRequestBytesMax(sayName, 0); err != nil {
		t.Fatal(err)
	}
	say(t, f.client, in)
}

// Refused requests between good ones, many at once: each gets its own answer.
func TestRefusalsHarmNobodyElse(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{RequestBytesMax: 60_000})
	done := make(chan error)
	for w := range 4 {
		go func() {
			for i := range 50 {
				big := strings.Repeat("x", 100_000)
				if _, err := f.client.Say(testContext(t), &testpb.Note{Text: big}); status.Code(err) != codes.ResourceExhausted {
					done <- fmt.Errorf("over the limit: %v", err)
					return
				}
				out, err := f.client.Say(testContext(t), echotest.New(fmt.Sprint("w", w, i)))
				if err != nil || out.Text != fmt.Sprint("W", w, i) {
					done <- fmt.Errorf("%v, %v", out, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if m := f.settled(t, "Say"); m.ScopesRefused != 200 || m.ScopesStarted != 400 {
		t.Errorf("200 refusals in 400 calls count as %+v", m)
	}
}

func TestRequestOverTheDecodedRatio(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{DecodedRatioMax: 8, DecodedFloorBytes: 20_000})
	small := &testpb.Note{}
	for range 5_000 {
		small.Children = append(small.Children, &testpb.Note{})
	}
	_, err := f.client.Say(testContext(t), small)
	wantCode(t, err, codes.ResourceExhausted, sayName, "DecodedRatioMax is 8", "10000 bytes on the wire may take 80000 bytes")
	say(t, f.client, echotest.New("honest"))
	if m := f.settled(t, "Say"); m.ScopesRefused != 1 || m.RefusedBy.DecodedRatioMax != 1 {
		t.Errorf("a refusal counts as %+v", m)
	}
}

// Many at once: the newest are refused, the others are not harmed, and then all is as before.
func TestSafetyProcessLimit(t *testing.T) {
	const requests, each = 8, 300_000
	arrived, proceed := make(chan bool, requests), make(chan bool)
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		arena.MakeSlice[byte](scope.From(ctx).Arena(), each, each)
		arrived <- true
		<-proceed
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, grpcgo.Options{})
	budget := scope.ProcessBudget()
	budget.SetBytesMax(budget.BytesUsed() + 5*each)
	defer budget.SetBytesMax(0)
	outcomes := make(chan error, requests)
	for range requests {
		go func() {
			_, err := f.client.Say(testContext(t), echotest.New("one of many"))
			outcomes <- err
		}()
	}
	served, refused := 0, 0
	for served+refused < requests {
		select {
		case <-arrived:
			served++
		case err := <-outcomes:
			wantCode(t, err, codes.ResourceExhausted, sayName, "ProcessBytesMax is", "more were wanted")
			refused++
		}
	}
	if served < 2 || refused < 2 {
		t.Errorf("%d were served, %d refused", served, refused)
	}
	close(proceed)
	for range served {
		if err := <-outcomes; err != nil {
			t.Errorf("one that had its memory is harmed: %v", err)
		}
	}
	say(t, f.client, echotest.New("there is room again"))
	if m := f.settled(t, "Say"); m.RefusedBy.ProcessBytesMax != uint64(refused) {
		t.Errorf("%d refusals count as %+v", refused, m)
	}
	t.Logf("safety: budgets_refused=%d", refused)
}

// gRPC bounds what it decompresses, before it does: what is larger never comes here.
func TestDecompressedBytesAreBounded(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{RequestBytesMax: 10 << 20}, grpc.MaxRecvMsgSize(1<<20))
	_, err := f.client.Say(testContext(t), &testpb.Note{Text: strings.Repeat("x", 8<<20)}, grpc.UseCompressor(gzip.Name))
	wantCode(t, err, codes.ResourceExhausted, "decompression")
	// Within gRPC's bound, ours holds for the decompressed bytes.
	if err := f.SetRequestBytesMax("", 100_000); err != nil {
		t.Fatal(err)
	}
	_, err = f.client.Say(testContext(t), &testpb.Note{Text: strings.Repeat("x", 500_000)}, grpc.UseCompressor(gzip.Name))
	wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 100000 bytes", "50000")
}
