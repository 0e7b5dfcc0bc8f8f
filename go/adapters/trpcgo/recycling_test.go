package trpcgo_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// failures are the ways in which a handler ends other than by a normal return without an error.
var failures = map[string]func(context.Context) (*testpb.Note, error){
	"trpc-go's error": func(context.Context) (*testpb.Note, error) { return nil, errs.New(10404, "gone") },
	"plain error":     func(context.Context) (*testpb.Note, error) { return nil, errors.New("gone") },
	"context's error": func(context.Context) (*testpb.Note, error) { return nil, context.DeadlineExceeded },
	"limit": func(ctx context.Context) (*testpb.Note, error) {
		return &testpb.Note{Blob: arena.MakeSlice[byte](scope.From(ctx).Arena(), 200_000, 200_000)}, nil
	},
	"panic":        func(context.Context) (*testpb.Note, error) { panic("handler's own") },
	"no encodable": func(context.Context) (*testpb.Note, error) { return &testpb.Note{Text: "\xff"}, nil },
}

// answering is a filter that answers calls whose handler failed as if it had not.
func answering(ctx context.Context, req any, next filter.ServerHandleFunc) (out any, err error) {
	defer func() {
		if recover() != nil || err != nil {
			out, err = &testpb.Note{}, nil
		}
	}()
	return next(ctx, req)
}

// Memory is recycled only after a normal return without an error: a goroutine that a failed call left
// behind goes on reading its request.
func TestMemoryIsRecycledOnlyAfterSuccess(t *testing.T) {
	for filterName, option := range map[string]filter.ServerFilter{"recovering": recovering, "answering": answering} {
		for name, fail := range failures {
			t.Run(filterName+"/"+name, func(t *testing.T) {
				var kept *testpb.Note
				f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
					if in.Text == "fail" {
						kept = in
						return fail(ctx)
					}
					return echotest.Shout(scope.From(ctx).Arena(), in), nil
				}}, trpcgo.Options{RequestBytesMax: 100_000}, server.WithFilter(option))
				if _, err := f.client.Say(testContext(t), echotest.New("fail")); err == nil && filterName == "recovering" {
					t.Error("the call did not fail")
				}
				if m := f.settled(t, "Say"); m.ScopesRetained != 1 {
					t.Errorf("a failed call counts as %+v", m)
				}
				for range 5 {
					say(t, f.client, echotest.New("after"))
				}
				if !proto.Equal(kept, echotest.New("fail")) {
					t.Errorf("the request turned into %v", kept)
				}
			})
		}
	}
}

func TestStreamMemoryIsRecycledOnlyAfterSuccess(t *testing.T) {
	for name, fail := range failures {
		if name == "no encodable" {
			continue // nothing is encoded when the handler returns
		}
		t.Run(name, func(t *testing.T) {
			var kept *testpb.Note
			f := startStreams(t, &echo{chat: func(stream testpb.Echo_ChatServer) error {
				in, err := stream.Recv()
				if err != nil {
					return err
				}
				kept = in
				_, err = fail(stream.Context())
				return err
			}}, trpcgo.Options{RequestBytesMax: 100_000, StreamScope: trpcgo.PerStream}, server.WithStreamFilter(
				func(stream server.Stream, _ *server.StreamServerInfo, handler server.StreamHandler) (err error) {
					defer func() {
						if recover() != nil {
							err = errors.New("recovered")
						}
					}()
					return handler(stream)
				}))
			stream := opened(t, func() (testpb.Echo_ChatClient, error) { return f.client.Chat(testContext(t)) })
			stream.Send(echotest.New("fail"))
			stream.Recv()
			if m := f.settled(t, "Chat"); m.ScopesRetained == 0 || m.Arenas.ArenasKept != 0 {
				t.Errorf("a failed stream counts as %+v", m)
			}
			if !proto.Equal(kept, echotest.New("fail")) {
				t.Errorf("the request turned into %v", kept)
			}
		})
	}
}

// together makes bytes in each of n goroutines, on arenas of the scope's.
func together(s *scope.Scope, n, bytes int) {
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			a := s.NewArena()
			a.String(string(arena.MakeSlice[byte](a, bytes/2, bytes/2)))
			s.Adopt(a)
		})
	}
	group.Wait()
}

// What goroutines make on arenas of the scope is under the call's one limit. Over it the call is
// refused when it returns, and the process lives.
func TestSafetyGoroutinesOverTheLimit(t *testing.T) {
	for name, options := range map[string][]server.Option{
		"alone":           nil,
		"behind a filter": {server.WithFilter(recovering)},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				s := scope.From(ctx)
				var goroutines, bytes int
				if fmt.Sscan(in.Text, &goroutines, &bytes); goroutines > 0 {
					together(s, goroutines, bytes)
				}
				return echotest.Shout(s.Arena(), in), nil
			}}, trpcgo.Options{RequestBytesMax: 400_000}, options...)
			for text, refused := range map[string]bool{"1 900000": true, "8 90000": true, "3 90000": false} {
				before := f.settled(t, "Say").RefusedBy.RequestBytesMax
				_, err := f.client.Say(testContext(t), echotest.New(text))
				if refused {
					wantCode(t, err, errs.RetServerOverload, sayName, "RequestBytesMax is 400000 bytes", "more were wanted")
				} else if err != nil {
					t.Errorf("%s: %v", text, err)
				}
				if after := f.settled(t, "Say").RefusedBy.RequestBytesMax; (after == before+1) != refused {
					t.Errorf("%s counts as %d refusals", text, after-before)
				}
			}
			say(t, f.client, echotest.New("modest"))
		})
	}
}

func TestSafetyStreamGoroutinesOverTheLimit(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := startStreams(t, &echo{repeat: func(in *testpb.Note, stream testpb.Echo_RepeatServer) error {
				together(scope.From(stream.Context()), 8, 90_000)
				return stream.Send(in)
			}}, trpcgo.Options{RequestBytesMax: 400_000, StreamScope: streamScope})
			in := echotest.New("greedy")
			stream := opened(t, func() (testpb.Echo_RepeatClient, error) { return f.client.Repeat(testContext(t), in) })
			var err error
			for err == nil {
				_, err = stream.Recv()
			}
			wantCode(t, err, errs.RetClientStreamReadEnd, "code:22", repeatName, "RequestBytesMax is 400000 bytes")
			if m := f.settled(t, "Repeat"); m.RefusedBy.RequestBytesMax != 1 {
				t.Errorf("a refusal counts as %+v", m)
			}
		})
	}
}

// Replies of other servers are under the limit of the call that asks for them, all together.
func TestSafetyRepliesShareTheLimit(t *testing.T) {
	back := start(t, &echo{}, trpcgo.Options{})
	pool, err := scope.NewPool(scope.Options{RequestBytesMax: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	s := pool.Get()
	ctx := scope.NewContext(testContext(t), s)
	in := &testpb.Note{Blob: make([]byte, 30_000)} // 60 KB with the wire
	var group sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		group.Go(func() {
			_, err := back.client.Say(ctx, in, trpcgo.WithScopes(trpcgo.ConnOptions{}))
			results <- err
		})
	}
	group.Wait()
	refused := 0
	for range cap(results) {
		if err := <-results; err != nil {
			wantCode(t, err, errs.RetClientOverload, "RequestBytesMax is 200000 bytes")
			refused++
		}
	}
	if refused < 5 || refused == 8 {
		t.Errorf("%d of 8 replies of 60 KB are refused with a limit of 200 KB", refused)
	}
	s.End()
	if got := pool.Stats().Arenas; got.ArenasOut != 0 {
		t.Errorf("after End: %+v", got)
	}
}
