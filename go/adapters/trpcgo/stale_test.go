package trpcgo_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/scope"
)

// randomNote fills a random choice of fields; every text carries the mark.
func randomNote(random *rand.Rand, mark string, depth int) *testpb.Note {
	n := &testpb.Note{}
	text := func() string { return mark + strings.Repeat("z", random.Intn(40)) }
	maybe := func() bool { return random.Intn(2) == 0 }
	if maybe() {
		n.Text = text()
	}
	if maybe() {
		n.Number = random.Int63()
	}
	if maybe() {
		n.Blob = []byte(text())
	}
	if maybe() {
		n.Author = &testpb.Author{Name: text(), Mails: []string{text(), text()}}
	}
	for range random.Intn(4) {
		if depth > 0 {
			n.Children = append(n.Children, randomNote(random, mark, depth-1))
		}
		n.Texts = append(n.Texts, text())
		n.Numbers = append(n.Numbers, random.Int63n(1<<20))
	}
	for i := range random.Intn(3) {
		if n.Labels == nil {
			n.Labels, n.Authors = map[string]string{}, map[string]*testpb.Author{}
		}
		n.Labels[fmt.Sprint(mark, i)] = text()
		n.Authors[fmt.Sprint(mark, i)] = &testpb.Author{Name: text()}
	}
	if maybe() {
		n.Maybe = proto.String(text())
	}
	switch random.Intn(3) {
	case 0:
		n.Choice = &testpb.Note_ChoiceText{ChoiceText: text()}
	case 1:
		n.Choice = &testpb.Note_ChoiceAuthor{ChoiceAuthor: &testpb.Author{Name: text()}}
	}
	return n
}

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
	out := shout(scope.From(ctx).Arena(), in)
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
		in := randomNote(random, fmt.Sprintf("<%d.%d>", worker, i), 2)
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
