package grpcgo_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// failures are the ways in which a handler ends other than by a normal return without an error.
var failures = map[string]func(context.Context) (*testpb.Note, error){
	"status error": func(context.Context) (*testpb.Note, error) { return nil, status.Error(codes.NotFound, "gone") },
	"plain error":  func(context.Context) (*testpb.Note, error) { return nil, errors.New("gone") },
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

// answering is an interceptor that answers calls whose handler failed as if it had not.
func answering(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (out any, err error) {
	defer func() {
		if recover() != nil || err != nil {
			out, err = &testpb.Note{}, nil
		}
	}()
	return handler(ctx, req)
}

func recovering(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = status.Errorf(codes.Internal, "recovered %v", p)
		}
	}()
	return handler(ctx, req)
}

// Memory is recycled only after a normal return without an error: a goroutine that a failed call left
// behind goes on reading its request.
func TestMemoryIsRecycledOnlyAfterSuccess(t *testing.T) {
	for interceptor, option := range map[string]grpc.UnaryServerInterceptor{"recovering": recovering, "answering": answering} {
		for name, fail := range failures {
			t.Run(interceptor+"/"+name, func(t *testing.T) {
				var kept *testpb.Note
				f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
					if in.Text == "fail" {
						kept = in
						return fail(ctx)
					}
					return echotest.Shout(scope.From(ctx).Arena(), in), nil
				}}, grpcgo.Options{RequestBytesMax: 100_000}, grpc.UnaryInterceptor(option))
				ctx, cancel := context.WithTimeout(testContext(t), 200*time.Millisecond)
				defer cancel()
				if name != "context's error" {
					ctx = testContext(t)
				}
				if _, err := f.client.Say(ctx, echotest.New("fail")); err == nil && interceptor == "recovering" {
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
			f := start(t, &echo{chat: func(stream grpc.BidiStreamingServer[testpb.Note, testpb.Note]) error {
				in, err := stream.Recv()
				if err != nil {
					return err
				}
				if in.Text != "fail" {
					return nil
				}
				kept = in
				_, err = fail(stream.Context())
				return err
			}}, grpcgo.Options{RequestBytesMax: 100_000, StreamScope: grpcgo.PerStream}, grpc.StreamInterceptor(
				func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
					defer func() {
						if recover() != nil {
							err = status.Error(codes.Internal, "recovered")
						}
					}()
					return handler(srv, stream)
				}))
			for i, text := range []string{"fail", "after", "after"} {
				ctx, cancel := context.WithCancel(testContext(t))
				if i == 0 && name == "context's error" {
					time.AfterFunc(100*time.Millisecond, cancel)
				}
				stream, err := f.client.Chat(ctx)
				if err != nil {
					t.Fatal(err)
				}
				stream.Send(echotest.New(text))
				stream.Recv()
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
	for name, options := range map[string][]grpc.ServerOption{
		"alone":                 nil,
		"behind an interceptor": {grpc.UnaryInterceptor(recovering)},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				s := scope.From(ctx)
				var goroutines, bytes int
				if fmt.Sscan(in.Text, &goroutines, &bytes); goroutines > 0 {
					together(s, goroutines, bytes)
				}
				return echotest.Shout(s.Arena(), in), nil
			}}, grpcgo.Options{RequestBytesMax: 400_000}, options...)
			for text, refused := range map[string]bool{"1 900000": true, "8 90000": true, "3 90000": false} {
				before := f.settled(t, "Say").RefusedBy.RequestBytesMax
				_, err := f.client.Say(testContext(t), echotest.New(text))
				if refused {
					wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 400000 bytes", "more were wanted")
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
	if used := scope.ProcessBudget().BytesUsed(); used != 0 {
		t.Errorf("%d bytes of the process's budget do not come back", used)
	}
}

func TestSafetyStreamGoroutinesOverTheLimit(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{repeat: func(in *testpb.Note, stream grpc.ServerStreamingServer[testpb.Note]) error {
				together(scope.From(stream.Context()), 8, 90_000)
				return stream.Send(in)
			}}, grpcgo.Options{RequestBytesMax: 400_000, StreamScope: streamScope})
			stream, err := f.client.Repeat(testContext(t), echotest.New("greedy"))
			for err == nil {
				_, err = stream.Recv()
			}
			wantCode(t, err, codes.ResourceExhausted, testpb.Echo_Repeat_FullMethodName, "RequestBytesMax is 400000 bytes")
			if m := f.settled(t, "Repeat"); m.RefusedBy.RequestBytesMax != 1 {
				t.Errorf("a refusal counts as %+v", m)
			}
		})
	}
}

// Replies of other servers are under the limit of the call that asks for them, all together.
func TestSafetyRepliesShareTheLimit(t *testing.T) {
	back := start(t, &echo{}, grpcgo.Options{})
	pool, err := scope.NewPool(scope.Options{RequestBytesMax: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	client := testpb.NewEchoClient(grpcgo.WrapConn(back.conn, grpcgo.ConnOptions{}))
	s := pool.Get()
	ctx := scope.NewContext(testContext(t), s)
	in := &testpb.Note{Blob: make([]byte, 30_000)} // 60 KB with the wire
	var group sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		group.Go(func() {
			_, err := client.Say(ctx, in)
			errs <- err
		})
	}
	group.Wait()
	refused := 0
	for range cap(errs) {
		if err := <-errs; err != nil {
			wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 200000 bytes")
			refused++
		}
	}
	if refused < 5 || refused == 8 {
		t.Errorf("%d of 8 replies of 60 KB are refused with a limit of 200 KB", refused)
	}
	s.End()
	if got := pool.Stats().Arenas; got.ArenasOut != 0 || scope.ProcessBudget().BytesUsed() != 0 {
		t.Errorf("after End: %+v, %d bytes are counted", got, scope.ProcessBudget().BytesUsed())
	}
}
