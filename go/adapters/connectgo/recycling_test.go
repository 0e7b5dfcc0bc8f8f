package connectgo_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// failures are the ways in which a handler ends other than by a normal return without an error.
var failures = map[string]func(context.Context) (*testpb.Note, error){
	"connect's error": func(context.Context) (*testpb.Note, error) {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("gone"))
	},
	"plain error": func(context.Context) (*testpb.Note, error) { return nil, errors.New("gone") },
	"context's error": func(ctx context.Context) (*testpb.Note, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
	"limit": func(ctx context.Context) (*testpb.Note, error) {
		return &testpb.Note{Blob: arena.MakeSlice[byte](scope.From(ctx).Arena(), 200_000, 200_000)}, nil
	},
	"panic":        func(context.Context) (*testpb.Note, error) { panic("handler's own") },
	"no encodable": func(context.Context) (*testpb.Note, error) { return &testpb.Note{Text: "\xff"}, nil },
}

// Memory is recycled only after a normal return without an error: a goroutine that a failed call left
// behind goes on reading its request.
func TestMemoryIsRecycledOnlyAfterSuccess(t *testing.T) {
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			var kept *testpb.Note
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				if in.Text == "fail" {
					kept = in
					return fail(ctx)
				}
				return echotest.Shout(scope.From(ctx).Arena(), in), nil
			}}, connectgo.Options{RequestBytesMax: 100_000})
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			if name == "context's error" {
				time.AfterFunc(200*time.Millisecond, cancel)
			}
			if _, err := f.client(t).Say(ctx, connect.NewRequest(echotest.New("fail"))); err == nil {
				t.Error("the call did not fail")
			}
			if m := f.settled(t, "Say"); m.ScopesRetained != 1 {
				t.Errorf("a failed call counts as %+v", m)
			}
			for range 5 {
				say(t, f.client(t), echotest.New("after"))
			}
			if !proto.Equal(kept, echotest.New("fail")) {
				t.Errorf("the request turned into %v", kept)
			}
		})
	}
}

func TestStreamMemoryIsRecycledOnlyAfterSuccess(t *testing.T) {
	for name, fail := range failures {
		if name == "no encodable" {
			continue // nothing is encoded when the handler returns
		}
		t.Run(name, func(t *testing.T) {
			var kept *testpb.Note
			f := start(t, &echo{chat: func(ctx context.Context, stream *connect.BidiStream[testpb.Note, testpb.Note]) error {
				in, err := stream.Receive()
				if err != nil {
					return err
				}
				if in.Text != "fail" {
					return nil
				}
				kept = in
				_, err = fail(ctx)
				return err
			}}, connectgo.Options{RequestBytesMax: 100_000, StreamScope: connectgo.PerStream})
			for i, text := range []string{"fail", "after", "after"} {
				ctx, cancel := context.WithCancel(testContext(t))
				if i == 0 && name == "context's error" {
					time.AfterFunc(100*time.Millisecond, cancel)
				}
				stream := f.client(t).Chat(ctx)
				stream.Send(echotest.New(text))
				stream.Receive()
				f.settled(t, "Chat")
				cancel()
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
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		s := scope.From(ctx)
		var goroutines, bytes int
		if fmt.Sscan(in.Text, &goroutines, &bytes); goroutines > 0 {
			together(s, goroutines, bytes)
		}
		return echotest.Shout(s.Arena(), in), nil
	}}, connectgo.Options{RequestBytesMax: 400_000})
	client := f.client(t)
	for text, refused := range map[string]bool{"1 900000": true, "8 90000": true, "3 90000": false} {
		before := f.settled(t, "Say").RefusedBy.RequestBytesMax
		_, err := client.Say(testContext(t), connect.NewRequest(echotest.New(text)))
		if refused {
			wantCode(t, err, connect.CodeResourceExhausted, testpbconnect.EchoSayProcedure,
				"RequestBytesMax is 400000 bytes", "more were wanted")
		} else if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if after := f.settled(t, "Say").RefusedBy.RequestBytesMax; (after == before+1) != refused {
			t.Errorf("%s counts as %d refusals", text, after-before)
		}
	}
	say(t, client, echotest.New("modest"))
}

func TestSafetyStreamGoroutinesOverTheLimit(t *testing.T) {
	for _, streamScope := range []connectgo.StreamScope{connectgo.StreamHeap, connectgo.PerMessage, connectgo.PerStream} {
		f := start(t, &echo{repeat: func(ctx context.Context, in *testpb.Note, stream *connect.ServerStream[testpb.Note]) error {
			together(scope.From(ctx), 8, 90_000)
			return stream.Send(in)
		}}, connectgo.Options{RequestBytesMax: 400_000, StreamScope: streamScope})
		stream, err := f.client(t).Repeat(testContext(t), connect.NewRequest(echotest.New("greedy")))
		if err != nil {
			t.Fatal(err)
		}
		for stream.Receive() {
		}
		wantCode(t, stream.Err(), connect.CodeResourceExhausted, testpbconnect.EchoRepeatProcedure, "RequestBytesMax is 400000 bytes")
		if m := f.settled(t, "Repeat"); m.RefusedBy.RequestBytesMax != 1 {
			t.Errorf("a refusal counts as %+v", m)
		}
	}
}
