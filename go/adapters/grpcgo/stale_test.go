package grpcgo_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// Whatever earlier requests held, a request has its own fields and no others, and so has its reply:
// random messages, 8 clients at once, unary and in streams, with calls that fail in between.
func TestNoStaleData(t *testing.T) {
	for name, serverOptions := range map[string][]grpc.ServerOption{
		"plain":              nil,
		"with stats handler": {grpc.StatsHandler(&sizer{})},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{
				say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
					return inScope(ctx, in), nil
				},
				chat: func(stream grpc.BidiStreamingServer[testpb.Note, testpb.Note]) error {
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
			}, grpcgo.Options{RequestBytesMax: 1 << 20, StreamScope: grpcgo.PerMessage}, serverOptions...)
			var group sync.WaitGroup
			for w := range 8 {
				group.Go(func() { exchange(t, f.client, rand.New(rand.NewSource(int64(w))), w) })
			}
			group.Wait()
			f.settled(t, "Say")
			f.settled(t, "Chat")
			f.settled(t, "Fail")
		})
	}
}

// inScope wraps the request in a reply that is made on the scope.
func inScope(ctx context.Context, in *testpb.Note) *testpb.Note {
	out := echotest.Shout(scope.From(ctx).Arena(), in)
	out.Reset()
	out.Children = append(out.Children, in)
	return out
}

func exchange(t *testing.T, client testpb.EchoClient, random *rand.Rand, worker int) {
	stream, err := client.Chat(testContext(t))
	if err != nil {
		t.Error(err)
		return
	}
	defer stream.CloseSend()
	for i := range 60 {
		in := echotest.Random(random, fmt.Sprintf("<%d.%d>", worker, i), 2)
		var out *testpb.Note
		var err error
		switch random.Intn(4) {
		case 0:
			client.Fail(testContext(t), in)
			continue
		case 1:
			if err = stream.Send(in); err == nil {
				out, err = stream.Recv()
			}
		default:
			out, err = client.Say(testContext(t), in)
		}
		if want := (&testpb.Note{Children: []*testpb.Note{in}}); err != nil || !proto.Equal(out, want) {
			t.Errorf("got  %v, %v\nwant %v", out, err, want)
			return
		}
	}
}
