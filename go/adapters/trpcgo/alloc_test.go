package trpcgo_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// bigNote is about 290 KB on the wire, in about 3,000 messages.
func bigNote() *testpb.Note {
	n := &testpb.Note{}
	for i := range 750 {
		n.Children = append(n.Children, echotest.New(fmt.Sprint("some text of an ordinary length ", i)))
	}
	return n
}

func copyOf(a *arena.Arena, in *testpb.Note) *testpb.Note {
	out := arena.NewOf[testpb.Note](a)
	out.Text, out.Number, out.Blob = in.Text, in.Number, a.Bytes(in.Blob)
	out.Author = arena.NewOf[testpb.Author](a)
	out.Author.Name = in.Author.GetName()
	out.Texts = append(arena.MakeSlice[string](a, 0, len(in.Texts)), in.Texts...)
	out.Children = arena.MakeSlice[*testpb.Note](a, 0, len(in.Children))
	for _, child := range in.Children {
		out.Children = append(out.Children, copyOf(a, child))
	}
	out.Labels = arena.MakeMap[string, string](a)
	for k, v := range in.Labels {
		out.Labels[k] = v
	}
	return out
}

// A request of 290 KB costs a few dozen allocations, client's and trpc-go's own included, and no copy
// of its bytes besides trpc-go's.
func TestAllocationsPerRequest(t *testing.T) {
	if !recycling {
		t.Skip("in this build pools drop what they are given")
	}
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		out := copyOf(scope.From(ctx).Arena(), in)
		out.Children = out.Children[:1]
		return out, nil
	}}, trpcgo.Options{})
	request, err := proto.Marshal(bigNote())
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	call := func() {
		if _, err := rawSay(ctx, f.target, request); err != nil {
			t.Fatal(err)
		}
	}
	const calls = 1000
	for range 100 {
		call()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	each, size := (after.Mallocs-before.Mallocs)/calls, (after.TotalAlloc-before.TotalAlloc)/calls
	t.Logf("%d bytes on the wire: %d allocations, %d KB per call, server and client together", len(request), each, size/1024)
	if each > 250 {
		t.Errorf("%d allocations per call of %d bytes, want at most 250", each, len(request))
	}
	// The client's frame and the server's; a further copy would be a third.
	if size > uint64(len(request))*5/2+50_000 {
		t.Errorf("%d bytes per call of %d bytes on the wire", size, len(request))
	}
}

func BenchmarkSay(b *testing.B) {
	for _, mode := range []scope.Mode{scope.Heap, scope.Codec} {
		b.Run(mode.String(), func(b *testing.B) {
			f := start(b, &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
				return &testpb.Note{Children: in.Children}, nil
			}}, trpcgo.Options{Mode: mode})
			request, err := proto.Marshal(bigNote())
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rawSay(ctx, f.target, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
