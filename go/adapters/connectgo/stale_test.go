package connectgo_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// Whatever earlier requests held, a request has its own fields and no others, and so has its reply:
// random messages, 8 clients of all protocols at once, with calls that fail or go away in between.
func TestNoStaleData(t *testing.T) {
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		out := echotest.Shout(scope.From(ctx).Arena(), in)
		out.Reset()
		out.Children = append(out.Children, in)
		return out, nil
	}}, connectgo.Options{RequestBytesMax: 1 << 20})
	all := protocols()
	var group sync.WaitGroup
	for w := range 8 {
		client := all[w%len(all)].client(t, f.server)
		group.Go(func() { exchange(t, client, rand.New(rand.NewSource(int64(w))), w) })
	}
	group.Wait()
	f.settled(t, "Say")
	f.settled(t, "Fail")
	if n := connectgo.TableSizes(); n != 0 {
		t.Errorf("%d entries are left in the tables", n)
	}
}

func exchange(t *testing.T, client testpbconnect.EchoClient, random *rand.Rand, worker int) {
	for i := range 60 {
		in := echotest.Random(random, fmt.Sprintf("<%d.%d>", worker, i), 2)
		switch random.Intn(5) {
		case 0:
			client.Fail(testContext(t), connect.NewRequest(in))
			continue
		case 1:
			ctx, cancel := context.WithTimeout(testContext(t), time.Duration(random.Intn(1000))*time.Microsecond)
			client.Say(ctx, connect.NewRequest(in))
			cancel()
			continue
		}
		out, err := client.Say(testContext(t), connect.NewRequest(in))
		if err != nil {
			t.Error(err)
			return
		}
		if want := (&testpb.Note{Children: []*testpb.Note{in}}); !proto.Equal(out.Msg, want) {
			t.Errorf("got  %v\nwant %v", out.Msg, want)
			return
		}
	}
}
