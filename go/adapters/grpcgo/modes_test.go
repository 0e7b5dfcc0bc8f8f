package grpcgo_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestHeapModeIsPlainGRPC(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		out := echotest.Shout(scope.From(ctx).Arena(), in) // handlers that use the scope work all the same
		kept = append(kept, out)
		return out, nil
	}}, grpcgo.Options{Mode: scope.Heap})
	for range 20 {
		say(t, f.client, echotest.New("heap"))
	}
	m := f.settled(t, "Say")
	if m.ScopesRetained != 20 || m.Arenas.ArenasKept != 0 {
		t.Errorf("memory of mode heap was recycled: %+v", m)
	}
	for _, out := range kept {
		if out.Text != "HEAP" {
			t.Errorf("a reply of mode heap turned into %v", out)
		}
	}
}

func TestModeIsSwitchedWhileRunning(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{StreamScope: grpcgo.PerMessage})
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					say(t, f.client, echotest.New("switch"))
				}
			}
		})
	}
	chat, err := f.client.Chat(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		mode := []scope.Mode{scope.Heap, scope.Codec}[i%2]
		if err := f.SetMode("", mode); err != nil {
			t.Fatal(err)
		}
		if err := chat.Send(echotest.New("chat")); err != nil {
			t.Fatal(err)
		}
		if out, err := chat.Recv(); err != nil || out.Text != "CHAT" {
			t.Fatalf("%v, %v", out, err)
		}
	}
	chat.CloseSend()
	close(stop)
	group.Wait()
	f.settled(t, "Say")
}

func TestSettingsOfSingleMethods(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{
		RequestBytesMax: 1 << 20,
		Methods:         map[string]grpcgo.MethodOptions{testpb.Echo_Fail_FullMethodName: {Mode: scope.Heap}},
	})
	if got := f.method(t, "Say").Options; got.RequestBytesMax != 1<<20 || got.Mode != scope.Codec {
		t.Errorf("Say has %+v", got)
	}
	if got := f.method(t, "Fail").Options; got.RequestBytesMax != 1<<20 || got.Mode != scope.Heap {
		t.Errorf("Fail has %+v", got)
	}
	if err := f.SetRequestBytesMax(testpb.Echo_Say_FullMethodName, 2<<20); err != nil {
		t.Error(err)
	}
	if err := f.SetDepthMax(testpb.Echo_Say_FullMethodName, 5); err != nil {
		t.Error(err)
	}
	if got := f.method(t, "Say").Options; got.RequestBytesMax != 2<<20 || got.DepthMax != 5 {
		t.Errorf("Say has %+v after the changes", got)
	}
	names := ""
	for _, m := range f.Methods() {
		names += strings.TrimPrefix(m.Name, "/harena.test.echo.Echo/") + " "
	}
	if names != "Say Fail Repeat Collect Chat " {
		t.Errorf("methods: %s", names)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	for want, options := range map[string]grpcgo.Options{
		"known are /harena.test.echo.Echo/Say, ": {Methods: map[string]grpcgo.MethodOptions{"/harena.test.echo.Echo/Sag": {}}},
		"mode heap cannot hold a limit":          {Mode: scope.Heap, RequestBytesMax: 1},
		"StreamScope(7) is not known":            {StreamScope: 7},
		"RequestBytesMax is -1":                  {RequestBytesMax: -1},
	} {
		if _, err := grpcgo.Wrap(&testpb.Echo_ServiceDesc, options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Wrap(%+v): %v, want %q", options, err, want)
		}
	}
	f := start(t, &echo{}, grpcgo.Options{})
	if err := f.SetMode("/harena.test.echo.Echo/Sag", scope.Heap); err == nil || !strings.Contains(err.Error(), "known are") {
		t.Errorf("SetMode of an unknown method: %v", err)
	}
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "harena/grpcgo: ") {
			t.Errorf("Register panics with %q", text)
		}
	}()
	grpcgo.Register(grpc.NewServer(), &testpb.Echo_ServiceDesc, &echo{}, grpcgo.Options{RequestBytesMax: -1})
}

func TestWrapLeavesTheDescriptionAlone(t *testing.T) {
	before := testpb.Echo_ServiceDesc.Methods[0].Handler
	if _, err := grpcgo.Wrap(&testpb.Echo_ServiceDesc, grpcgo.Options{}); err != nil {
		t.Fatal(err)
	}
	// Func values compare only with nil; the plain handler has no scope to offer.
	plain := &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		if scope.From(ctx) != nil {
			t.Error("the generated description was changed")
		}
		return in, nil
	}}
	if _, err := before(plain, context.Background(), func(any) error { return nil }, nil); err != nil {
		t.Error(err)
	}
}

// foreignCodec is somebody else's codec for "proto". It hides from Harena's which messages they are.
type foreignCodec struct{ encoding.CodecV2 }

type hidden struct{ *testpb.Note }

func (c foreignCodec) Marshal(v any) (mem.BufferSlice, error) {
	return c.CodecV2.Marshal(&hidden{v.(*testpb.Note)})
}

func (c foreignCodec) Unmarshal(data mem.BufferSlice, v any) error {
	return c.CodecV2.Unmarshal(data, &hidden{v.(*testpb.Note)})
}

func TestOtherCodecWorksAsWithoutHarena(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{StreamScope: grpcgo.PerMessage}, grpc.ForceServerCodecV2(foreignCodec{grpcgo.Codec()}))
	for range 20 {
		say(t, f.client, echotest.New("foreign"))
	}
	if m := f.settled(t, "Say"); m.Uncovered != 20 || m.ScopesRetained != 20 {
		t.Errorf("20 calls with a foreign codec count as %+v", m)
	}
	chat, err := f.client.Chat(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := chat.Send(echotest.New("foreign")); err != nil {
		t.Fatal(err)
	}
	if out, err := chat.Recv(); err != nil || out.Text != "FOREIGN" {
		t.Errorf("%v, %v", out, err)
	}
	chat.CloseSend()
	if m := f.settled(t, "Chat"); m.Uncovered != 1 {
		t.Errorf("a message with a foreign codec counts as %+v", m)
	}
}

func TestForcedCodec(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{}, grpc.ForceServerCodecV2(grpcgo.Codec()))
	say(t, f.client, echotest.New("forced"))
	if m := f.settled(t, "Say"); m.Uncovered != 0 || m.ScopesRetained != 0 {
		t.Errorf("with the codec forced: %+v", m)
	}
}
