package grpcgo_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestInterceptorsSeeTheMessages(t *testing.T) {
	var seen []string
	look := func(name string) grpc.UnaryServerInterceptor {
		return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if scope.From(ctx) == nil {
				t.Error("the interceptor's context has no scope")
			}
			seen = append(seen, name+" "+req.(*testpb.Note).Author.Name)
			reply, err := handler(ctx, req)
			seen = append(seen, name+" "+reply.(*testpb.Note).Text+" "+req.(*testpb.Note).Author.Name)
			return reply, err
		}
	}
	f := start(t, &echo{}, grpcgo.Options{}, grpc.ChainUnaryInterceptor(look("outer"), look("inner")))
	say(t, f.client, echotest.New("n"))
	want := "outer author n|inner author n|inner N author n|outer N author n"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("interceptors saw %q, want %q", got, want)
	}
	if m := f.settled(t, "Say"); m.ScopesRetained != 0 {
		t.Errorf("interceptors cost the recycling of memory: %+v", m)
	}
}

func TestInterceptorThatReplacesTheReply(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{}, grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if _, err := handler(ctx, req); err != nil {
				return nil, err
			}
			return &testpb.Note{Text: "replaced"}, nil
		}))
	out, err := f.client.Say(testContext(t), echotest.New("n"))
	if err != nil || out.Text != "replaced" {
		t.Errorf("%v, %v", out, err)
	}
	f.settled(t, "Say")
}

// An interceptor with a time limit of its own leaves the handler running on the request.
func TestInterceptorThatDoesNotWait(t *testing.T) {
	leave, left := make(chan struct{}), make(chan error, 1)
	impl := &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		want := echotest.New(in.Text)
		<-leave
		if !proto.Equal(in, want) {
			left <- fmt.Errorf("the request turned into %v", in)
		} else {
			left <- nil
		}
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}
	f := start(t, impl, grpcgo.Options{}, grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if req.(*testpb.Note).Text != "slow" {
				return echotest.Shouted(req.(*testpb.Note)), nil
			}
			entered := make(chan struct{})
			go func() { close(entered); handler(ctx, req) }()
			<-entered
			time.Sleep(20 * time.Millisecond)
			return nil, status.Error(codes.DeadlineExceeded, "too slow")
		}))
	_, err := f.client.Say(testContext(t), echotest.New("slow"))
	wantCode(t, err, codes.DeadlineExceeded)
	for range 50 {
		say(t, f.client, echotest.New("other"))
	}
	close(leave)
	if err := <-left; err != nil {
		t.Error(err)
	}
}

// An interceptor that calls the handler when it has returned: the request is not there any more.
func TestInterceptorThatCallsTheHandlerLate(t *testing.T) {
	late := make(chan error, 1)
	f := start(t, &echo{}, grpcgo.Options{}, grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			go func() {
				time.Sleep(20 * time.Millisecond)
				_, err := handler(ctx, req)
				late <- err
			}()
			return &testpb.Note{Text: "already"}, nil
		}))
	if out, err := f.client.Say(testContext(t), echotest.New("late")); err != nil || out.Text != "already" {
		t.Errorf("%v, %v", out, err)
	}
	wantCode(t, <-late, codes.Internal, "called the handler after it had returned")
}

func TestPanicIsNotSwallowed(t *testing.T) {
	impl := &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { panic("handler's own") }}
	var panicked any
	f := start(t, impl, grpcgo.Options{}, grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (out any, err error) {
			defer func() {
				panicked = recover()
				err = status.Error(codes.Internal, "recovered")
			}()
			return handler(ctx, req)
		}))
	_, err := f.client.Say(testContext(t), echotest.New("p"))
	wantCode(t, err, codes.Internal, "recovered")
	if panicked != "handler's own" {
		t.Errorf("the interceptor recovered %v", panicked)
	}
	f.settled(t, "Say")
}

// Without an interceptor the panic reaches gRPC, which lets it end the process: here the wrapped
// handler is called directly.
func TestPanicLeavesMemoryToTheCollector(t *testing.T) {
	var kept []*int
	impl := &echo{say: func(ctx context.Context, _ *testpb.Note) (*testpb.Note, error) {
		v := arena.NewOf[int](scope.From(ctx).Arena())
		*v = 42
		kept = append(kept, v)
		panic("handler's own")
	}}
	service, err := grpcgo.Wrap(&testpb.Echo_ServiceDesc, grpcgo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	handler := service.Desc().Methods[0].Handler
	for range 10 {
		func() {
			defer func() {
				if p := recover(); p != "handler's own" {
					t.Errorf("recovered %v", p)
				}
			}()
			handler(impl, context.Background(), func(any) error { return nil }, nil)
		}()
	}
	for _, v := range kept {
		if *v != 42 {
			t.Errorf("memory of a panicked call was reused: %d", *v)
		}
	}
	if m := service.Methods()[0]; m.ScopesEnded != 10 || m.ScopesRetained != 10 {
		t.Errorf("10 panics count as %+v", m)
	}
}

// watcher is a stats handler that reads what it is given.
type watcher struct {
	mu       sync.Mutex
	payloads []string
}

func (w *watcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (w *watcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (w *watcher) HandleConn(context.Context, stats.ConnStats)                       {}
func (w *watcher) HandleRPC(_ context.Context, s stats.RPCStats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch s := s.(type) {
	case *stats.InPayload:
		w.payloads = append(w.payloads, "in "+s.Payload.(*testpb.Note).GetAuthor().GetName())
	case *stats.OutPayload:
		m := s.Payload.(*testpb.Note)
		w.payloads = append(w.payloads, "out "+m.Text+" "+m.GetAuthor().GetName()+" "+fmt.Sprint(len(m.Children)))
	}
}

func TestStatsHandlersSeeTheMessages(t *testing.T) {
	w := &watcher{}
	f := start(t, &echo{}, grpcgo.Options{}, grpc.StatsHandler(w))
	const calls = 50
	for i := range calls {
		say(t, f.client, echotest.New(fmt.Sprint("n", i)))
	}
	m := f.settled(t, "Say")
	if m.ScopesRetained != 0 || m.Arenas.Made >= calls {
		t.Errorf("a stats handler costs the recycling of memory: %+v", m)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range calls {
		in, out := fmt.Sprintf("in author n%d", i), fmt.Sprintf("out N%d author n%d 2", i, i)
		if len(w.payloads) != 2*calls || w.payloads[2*i] != in || w.payloads[2*i+1] != out {
			t.Fatalf("payloads %q, want %q and %q at %d", w.payloads, in, out, 2*i)
		}
	}
}

func TestStatsHandlerWithBigReplies(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{}, grpc.StatsHandler(&watcher{}))
	for range 10 {
		say(t, f.client, echotest.New(strings.Repeat("x", 300_000)))
	}
	f.settled(t, "Say")
}

func TestTracing(t *testing.T) {
	grpc.EnableTracing = true
	defer func() { grpc.EnableTracing = false }()
	var kept []*testpb.Note
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		kept = append(kept, in) // as the trace does
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, grpcgo.Options{})
	for i := range 20 {
		say(t, f.client, echotest.New(fmt.Sprint("traced ", i)))
	}
	f.settled(t, "Say")
	for i, in := range kept {
		if !proto.Equal(in, echotest.New(fmt.Sprint("traced ", i))) {
			t.Fatalf("the trace would show %v", in)
		}
	}
}

// sizer is a stats handler that walks through the payloads it is given.
type sizer struct{ watcher }

func (*sizer) HandleRPC(_ context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.InPayload:
		proto.Size(s.Payload.(proto.Message))
	case *stats.OutPayload:
		proto.Size(s.Payload.(proto.Message))
	}
}
