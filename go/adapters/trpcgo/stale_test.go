package trpcgo_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// Whatever earlier requests held, a request has its own fields and no others, and so has its reply:
// random messages, 8 clients at once, unary and in streams, with calls that fail in between.
func TestNoStaleData(t *testing.T) {
	impl := &echo{
		say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) { return inScope(ctx, in), nil },
		chat: func(stream testpb.Echo_ChatServer) error {
			for {
				in, err := stream.Recv()
				if err != nil {
					return nil
				}
				if err := stream.Send(inScope(stream.Context(), in)); err != nil {
					return err
				}
			}
		},
	}
	options := trpcgo.Options{RequestBytesMax: 1 << 20, StreamScope: trpcgo.PerMessage}
	unary, streams := start(t, impl, options), startStreams(t, impl, options)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() { exchange(t, unary.client, streams.client, rand.New(rand.NewSource(int64(w))), w) })
	}
	group.Wait()
	unary.settled(t, "Say")
	unary.settled(t, "Fail")
	streams.settled(t, "Chat")
}

// inScope wraps the request in a reply that is made on the scope.
func inScope(ctx context.Context, in *testpb.Note) *testpb.Note {
	out := echotest.Shout(scope.From(ctx).Arena(), in)
	out.Reset()
	out.Children = append(out.Children, in)
	return out
}

func exchange(t *testing.T, unary, streams testpb.EchoClientProxy, random *rand.Rand, worker int) {
	stream, err := streams.Chat(testContext(t))
	if err != nil {
		t.Error(err)
		return
	}
	defer stream.CloseSend()
	for i := range 60 {
		in := echotest.Random(random, fmt.Sprintf("<%d.%d>", worker, i), 2)
		var out *testpb.Note
		var err error
		switch random.Intn(5) {
		case 0:
			in.Number = 10001
			unary.Fail(testContext(t), in)
			continue
		case 1:
			if err = stream.Send(in); err == nil {
				out, err = stream.Recv()
			}
		case 2:
			out, err = unary.Say(testContext(t), in, client.WithCompressType(codec.CompressTypeSnappy))
		default:
			out, err = unary.Say(testContext(t), in)
		}
		if want := (&testpb.Note{Children: []*testpb.Note{in}}); err != nil || !proto.Equal(out, want) {
			t.Errorf("got  %v, %v\nwant %v", out, err, want)
			return
		}
	}
}
