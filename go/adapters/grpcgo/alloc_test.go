package grpcgo_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"google.golang.org/grpc"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// bigNote is about 180 KB on the wire, in about 3,000 messages.
func bigNote() *testpb.Note {
	n := &testpb.Note{}
	for i := range 750 {
		n.Children = append(n.Children, echotest.New(fmt.Sprint("some text of an ordinary length ", i)))
	}
	return n
}

// rebuild makes a reply of the request's size on the scope.
func rebuild(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	a := scope.From(ctx).Arena()
	return copyOf(a, in), nil
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

// A request of 180 KB costs a few dozen allocations, client's and gRPC's own included.
func TestAllocationsPerRequest(t *testing.T) {
	if !recycling {
		t.Skip("in this build pools drop what they are given")
	}
	f := start(t, &echo{say: rebuild}, grpcgo.Options{})
	data, err := grpcgo.Codec().Marshal(bigNote())
	if err != nil {
		t.Fatal(err)
	}
	request := data.Materialize()
	call := func() {
		if reply, err := rawSay(t, f.conn, request); err != nil || len(reply) < len(request)/2 {
			t.Fatalf("%d bytes, %v", len(reply), err)
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
	each := (after.Mallocs - before.Mallocs) / calls
	t.Logf("%d bytes on the wire: %d allocations, %d KB per call, server and client together",
		len(request), each, (after.TotalAlloc-before.TotalAlloc)/calls/1024)
	if each > 250 {
		t.Errorf("%d allocations per call of %d bytes, want at most 250", each, len(request))
	}
}

func BenchmarkSay(b *testing.B) {
	for _, mode := range []scope.Mode{scope.Heap, scope.Codec} {
		b.Run(mode.String(), func(b *testing.B) {
			f := start(b, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				return &testpb.Note{Children: in.Children}, nil
			}}, grpcgo.Options{Mode: mode})
			data, _ := grpcgo.Codec().Marshal(bigNote())
			request := data.Materialize()
			var reply []byte
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if err := f.conn.Invoke(ctx, sayName, &request, &reply, grpc.ForceCodecV2(rawCodec{grpcgo.Codec()})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
