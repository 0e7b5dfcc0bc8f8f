package trpcgo_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// A handler that asks another server, many times at once, and answers with what it got.
func TestClientRepliesLiveInTheHandlersScope(t *testing.T) {
	back := start(t, &echo{}, trpcgo.Options{})
	inner := testpb.NewEchoClientProxy(client.WithTarget(back.target), trpcgo.WithScopes(trpcgo.ConnOptions{}))
	front := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		out := &testpb.Note{Children: make([]*testpb.Note, 4)}
		var group sync.WaitGroup
		errors := make([]error, 4)
		for i := range out.Children {
			group.Go(func() { out.Children[i], errors[i] = inner.Say(ctx, echotest.New(fmt.Sprint(in.Text, i))) })
		}
		group.Wait()
		for _, err := range errors {
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}}, trpcgo.Options{RequestBytesMax: 100_000})

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
	f := start(t, &echo{}, trpcgo.Options{})
	pool, err := scope.NewPool(scope.Options{RequestBytesMax: 50_000, DepthMax: 4})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	look := func(ctx context.Context, req, rsp any, next filter.ClientHandleFunc) error {
		err := next(ctx, req, rsp)
		seen = append(seen, req.(*testpb.Note).Text+" "+rsp.(*testpb.Note).Text)
		return err
	}
	proxy := testpb.NewEchoClientProxy(client.WithTarget(f.target), client.WithFilter(look), trpcgo.WithScopes(trpcgo.ConnOptions{}))
	s := pool.Get()
	ctx := scope.NewContext(testContext(t), s)
	in := echotest.New("own scope")
	out, err := proxy.Say(ctx, in)
	if err != nil || !proto.Equal(out, echotest.Shouted(in)) {
		t.Errorf("%v, %v", out, err)
	}
	if len(seen) != 1 || seen[0] != "own scope OWN SCOPE" {
		t.Errorf("a filter before the option saw %q", seen)
	}
	_, err = proxy.Say(ctx, echotest.New(strings.Repeat("x", 100_000)))
	wantCode(t, err, errs.RetClientOverload, sayName, "RequestBytesMax is 50000 bytes")
	deep := &testpb.Note{}
	for range 10 {
		deep = &testpb.Note{Children: []*testpb.Note{deep}}
	}
	_, err = proxy.Say(ctx, deep)
	wantCode(t, err, errs.RetClientDecodeFail, sayName, "DepthMax is 4 levels")
	_, err = proxy.Fail(ctx, &testpb.Note{Number: 10404})
	wantCode(t, err, 10404)
	_, err = proxy.Say(ctx, in, client.WithSendOnly())
	if err != nil {
		t.Errorf("a call without a reply: %v", err)
	}
	say(t, proxy, in, client.WithSerializationType(codec.SerializationTypeJSON))
	s.End()
	if got := pool.Stats().Arenas; got.ArenasOut != 0 || got.ArenasKept == 0 {
		t.Errorf("after End: %+v", got)
	}
	// A scope that has ended, and none at all: as without Harena.
	for _, ctx := range []context.Context{ctx, testContext(t)} {
		if out, err := proxy.Say(ctx, in); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
			t.Errorf("%v, %v", out, err)
		}
	}
}

// The other side knows nothing of Harena, and the wire is trpc-go's.
func TestInterop(t *testing.T) {
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	plain, _ := serve(t, func(s server.Service) {
		if err := s.Register(&desc, plainEcho); err != nil {
			t.Fatal(err)
		}
	})
	ours := start(t, &echo{}, trpcgo.Options{})
	for name, target := range map[string]string{"plain server": plain, "our server": ours.target} {
		for name2, proxy := range map[string]testpb.EchoClientProxy{
			"plain client": testpb.NewEchoClientProxy(client.WithTarget(target)),
			"our client":   testpb.NewEchoClientProxy(client.WithTarget(target), trpcgo.WithScopes(trpcgo.ConnOptions{})),
		} {
			t.Run(name+", "+name2, func(t *testing.T) {
				for i := range 100 {
					s := pool.Get()
					in := echotest.New(fmt.Sprint("message ", i, strings.Repeat("z", 10*i)))
					out, err := proxy.Say(scope.NewContext(testContext(t), s), in)
					if err != nil || !proto.Equal(out, echotest.Shouted(in)) {
						t.Fatalf("got %v, %v", out, err)
					}
					_, err = proxy.Fail(scope.NewContext(testContext(t), s), &testpb.Note{Number: 10000 + int64(i), Text: "no"})
					wantCode(t, err, 10000+i, "no")
					s.End()
				}
			})
		}
	}
	if m := ours.settled(t, "Say"); m.ScopesStarted != 200 || m.ScopesRetained != 0 || m.Uncovered != 0 {
		t.Errorf("200 calls count as %+v", m)
	}
}

func TestClientStreams(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := startStreams(t, &echo{}, trpcgo.Options{})
			pool, err := scope.NewPool(scope.Options{})
			if err != nil {
				t.Fatal(err)
			}
			proxy := testpb.NewEchoClientProxy(client.WithTarget(f.target), trpcgo.WithScopes(trpcgo.ConnOptions{StreamScope: streamScope}))
			s := pool.Get()
			stream, err := proxy.Chat(scope.NewContext(testContext(t), s))
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for i := range 20 {
				in := echotest.New(fmt.Sprint("stream ", i))
				if err := stream.Send(in); err != nil {
					t.Fatal(err)
				}
				out, err := stream.Recv()
				if err != nil || !proto.Equal(out, echotest.Shouted(in)) {
					t.Fatalf("%v, %v", out, err)
				}
				kept = append(kept, out.Text)
			}
			stream.CloseSend()
			if _, err := stream.Recv(); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
			s.End()
			for i, text := range kept {
				if text != fmt.Sprint("STREAM ", i) {
					t.Errorf("string %d turned into %q", i, text)
				}
			}
			arenas := pool.Stats().Arenas
			// The scope's own, and those of the messages.
			most := map[trpcgo.StreamScope]uint64{trpcgo.StreamHeap: 1, trpcgo.PerMessage: 3, trpcgo.PerStream: 22}[streamScope]
			if arenas.ArenasOut != 0 || arenas.Made > most {
				t.Errorf("20 messages took %+v", arenas)
			}
		})
	}
}
