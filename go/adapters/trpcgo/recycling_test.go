package trpcgo_test

import (
	"context"
	"errors"
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
