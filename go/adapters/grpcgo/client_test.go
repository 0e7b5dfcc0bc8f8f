package grpcgo_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// A handler that asks another server, many times at once, and answers with what it got.
func TestClientRepliesLiveInTheHandlersScope(t *testing.T) {
	back := start(t, &echo{}, grpcgo.Options{})
	inner := testpb.NewEchoClient(grpcgo.WrapConn(back.conn, grpcgo.ConnOptions{}))
	front := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		out := &testpb.Note{Children: make([]*testpb.Note, 4)}
		var group sync.WaitGroup
		errs := make([]error, 4)
		for i := range out.Children {
			group.Go(func() { out.Children[i], errs[i] = inner.Say(ctx, echotest.New(fmt.Sprint(in.Text, i))) })
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}}, grpcgo.Options{RequestBytesMax: 100_000})

	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 25 {
				text := fmt.Sprint("w", w, "i", i, "c")
				out, err := front.client.Say(testContext(t), &testpb.Note{Text: text})
				want := &testpb.Note{}
				for c := range 4 {
					want.Children = append(want.Children, echotest.Shouted(echotest.New(fmt.Sprint(text, c))))
				}
				if err != nil || !proto.Equal(out, want) {
					t.Errorf("got %v, %v\nwant %v", out, err, want)
					return
				}
			}
		})
	}
	group.Wait()
	if m := front.settled(t, "Say"); m.ScopesRetained != 0 || m.Arenas.ArenasOut != 0 || m.Arenas.Gets < 4*100 {
		t.Errorf("100 calls of 4 calls each count as %+v", m)
	}
}

func TestClientWithAScopeOfItsOwn(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	pool, err := scope.NewPool(scope.Options{RequestBytesMax: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	client := testpb.NewEchoClient(grpcgo.WrapConn(f.conn, grpcgo.ConnOptions{}))
	s := pool.Get()
	ctx := scope.NewContext(testContext(t), s)
	in := echotest.New("own scope")
	out, err := client.Say(ctx, in)
	if err != nil || !proto.Equal(out, echotest.Shouted(in)) {
		t.Errorf("%v, %v", out, err)
	}
	_, err = client.Say(ctx, echotest.New(strings.Repeat("x", 100_000)))
	wantCode(t, err, codes.ResourceExhausted, sayName, "RequestBytesMax is 50000 bytes")
	_, err = client.Fail(ctx, &testpb.Note{Number: int64(codes.NotFound)})
	wantCode(t, err, codes.NotFound)
	s.End()
	if got := pool.Stats().Arenas; got.ArenasOut != 0 || got.ArenasKept == 0 {
		t.Errorf("after End: %+v", got)
	}
	// A scope that has ended, and none at all: as without Harena.
	for _, ctx := range []context.Context{ctx, testContext(t)} {
		if out, err := client.Say(ctx, in); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
			t.Errorf("%v, %v", out, err)
		}
	}
}

func TestClientStreams(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{}, grpcgo.Options{})
			pool, err := scope.NewPool(scope.Options{})
			if err != nil {
				t.Fatal(err)
			}
			client := testpb.NewEchoClient(grpcgo.WrapConn(f.conn, grpcgo.ConnOptions{StreamScope: streamScope}))
			s := pool.Get()
			stream, err := client.Chat(scope.NewContext(testContext(t), s))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				in := echotest.New(fmt.Sprint("stream ", i))
				if err := stream.Send(in); err != nil {
					t.Fatal(err)
				}
				if out, err := stream.Recv(); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
					t.Fatalf("%v, %v", out, err)
				}
			}
			stream.CloseSend()
			if _, err := stream.Recv(); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
			s.End()
			arenas := pool.Stats().Arenas
			// The scope's own, and those of the messages and of the end.
			most := map[grpcgo.StreamScope]uint64{grpcgo.StreamHeap: 1, grpcgo.PerMessage: 3, grpcgo.PerStream: 22}[streamScope]
			if arenas.ArenasOut != 0 || arenas.Made > most {
				t.Errorf("20 messages took %+v", arenas)
			}
		})
	}
}
