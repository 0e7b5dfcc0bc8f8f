package trpcgo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestFiltersSeeTheMessages(t *testing.T) {
	var seen []string
	look := func(name string) filter.ServerFilter {
		return func(ctx context.Context, req any, next filter.ServerHandleFunc) (any, error) {
			if scope.From(ctx) == nil {
				t.Error("the filter's context has no scope")
			}
			seen = append(seen, name+" "+req.(*testpb.Note).Author.Name)
			reply, err := next(ctx, req)
			seen = append(seen, name+" "+reply.(*testpb.Note).Text+" "+req.(*testpb.Note).Author.Name)
			return reply, err
		}
	}
	f := start(t, &echo{}, trpcgo.Options{}, server.WithFilters([]filter.ServerFilter{look("outer"), look("inner")}))
	say(t, f.client, echotest.New("n"))
	want := "outer author n|inner author n|inner N author n|outer N author n"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("filters saw %q, want %q", got, want)
	}
	if m := f.settled(t, "Say"); m.ScopesRetained != 0 {
		t.Errorf("filters cost the recycling of memory: %+v", m)
	}
}

func TestFilterThatReplacesTheReply(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{}, server.WithFilter(
		func(ctx context.Context, req any, next filter.ServerHandleFunc) (any, error) {
			if _, err := next(ctx, req); err != nil {
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

// A filter with a time limit of its own leaves the handler running on the request.
func TestFilterThatDoesNotWait(t *testing.T) {
	leave, left := make(chan struct{}), make(chan *testpb.Note, 1)
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		<-leave
		left <- proto.Clone(in).(*testpb.Note)
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, trpcgo.Options{}, server.WithFilter(
		func(ctx context.Context, req any, next filter.ServerHandleFunc) (any, error) {
			if req.(*testpb.Note).Text != "slow" {
				return echotest.Shouted(req.(*testpb.Note)), nil
			}
			entered := make(chan struct{})
			go func() { close(entered); next(ctx, req) }()
			<-entered
			time.Sleep(20 * time.Millisecond)
			return nil, errs.NewFrameError(errs.RetServerTimeout, "too slow")
		}))
	_, err := f.client.Say(testContext(t), echotest.New("slow"))
	wantCode(t, err, errs.RetServerTimeout)
	for range 50 {
		say(t, f.client, echotest.New("other"))
	}
	close(leave)
	if in := <-left; !proto.Equal(in, echotest.New("slow")) {
		t.Errorf("the handler's request turned into %v", in)
	}
}

// A filter that calls the handler when it has returned: the request is not there any more.
func TestFilterThatCallsTheHandlerLate(t *testing.T) {
	late := make(chan error, 1)
	f := start(t, &echo{}, trpcgo.Options{}, server.WithFilter(
		func(ctx context.Context, req any, next filter.ServerHandleFunc) (any, error) {
			go func() {
				time.Sleep(20 * time.Millisecond)
				_, err := next(ctx, req)
				late <- err
			}()
			return &testpb.Note{Text: "already"}, nil
		}))
	if out, err := f.client.Say(testContext(t), echotest.New("late")); err != nil || out.Text != "already" {
		t.Errorf("%v, %v", out, err)
	}
	wantCode(t, <-late, errs.RetServerSystemErr, "called the handler after it had returned")
}

func TestPanicIsNotSwallowed(t *testing.T) {
	var panicked any
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { panic("handler's own") }},
		trpcgo.Options{}, server.WithFilter(
			func(ctx context.Context, req any, next filter.ServerHandleFunc) (out any, err error) {
				defer func() {
					panicked = recover()
					err = errs.NewFrameError(errs.RetServerSystemErr, "recovered")
				}()
				return next(ctx, req)
			}))
	_, err := f.client.Say(testContext(t), echotest.New("p"))
	wantCode(t, err, errs.RetServerSystemErr, "recovered")
	if panicked != "handler's own" {
		t.Errorf("the filter recovered %v", panicked)
	}
	f.settled(t, "Say")
}

// Without a filter the panic reaches trpc-go: here the wrapped handler is called directly.
func TestPanicLeavesMemoryToTheCollector(t *testing.T) {
	var kept []*int
	impl := &echo{say: func(ctx context.Context, _ *testpb.Note) (*testpb.Note, error) {
		v := arena.NewOf[int](scope.From(ctx).Arena())
		*v = 42
		kept = append(kept, v)
		panic("handler's own")
	}}
	service, err := trpcgo.Wrap(&testpb.EchoServer_ServiceDesc, trpcgo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	handler := service.Desc().Methods[0].Func
	for range 10 {
		func() {
			defer func() {
				if p := recover(); p != "handler's own" {
					t.Errorf("recovered %v", p)
				}
			}()
			handler(impl, context.Background(), func(any) (filter.ServerChain, error) { return nil, nil })
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
