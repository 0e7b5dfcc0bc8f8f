package trpcgo_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/restful"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestHeapModeIsPlainTRPC(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		out := echotest.Shout(scope.From(ctx).Arena(), in) // handlers that use the scope work all the same
		kept = append(kept, out)
		return out, nil
	}}, trpcgo.Options{Mode: scope.Heap})
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
	f := start(t, &echo{}, trpcgo.Options{})
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
	for i := range 100 {
		if err := f.SetMode("", []scope.Mode{scope.Heap, scope.Codec}[i%2]); err != nil {
			t.Fatal(err)
		}
		say(t, f.client, echotest.New("one"))
	}
	close(stop)
	group.Wait()
	f.settled(t, "Say")
}

func TestSettingsOfSingleMethods(t *testing.T) {
	f := startStreams(t, &echo{}, trpcgo.Options{
		RequestBytesMax: 1 << 20,
		Methods:         map[string]trpcgo.MethodOptions{failName: {Mode: scope.Heap}},
	})
	if got := f.method(t, "Fail").Options; got.RequestBytesMax != 1<<20 || got.Mode != scope.Heap {
		t.Errorf("Fail has %+v", got)
	}
	if err := errors.Join(f.SetRequestBytesMax(sayName, 2<<20), f.SetDepthMax(sayName, 5)); err != nil {
		t.Error(err)
	}
	if got := f.method(t, "Say").Options; got.RequestBytesMax != 2<<20 || got.DepthMax != 5 || got.Mode != scope.Codec {
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
	for want, options := range map[string]trpcgo.Options{
		"known are /harena.test.echo.Echo/Say, ": {Methods: map[string]trpcgo.MethodOptions{"/harena.test.echo.Echo/Sag": {}}},
		"mode heap cannot hold a limit":          {Mode: scope.Heap, RequestBytesMax: 1},
		"StreamScope(7) is not known":            {StreamScope: 7},
		"RequestBytesMax is -1":                  {RequestBytesMax: -1},
	} {
		if _, err := trpcgo.Wrap(&testpb.EchoServer_ServiceDesc, options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Wrap(%+v): %v, want %q", options, err, want)
		}
	}
	panics := func(want string, call func()) {
		t.Helper()
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, want) {
				t.Errorf("the panic is %q, want %q", text, want)
			}
		}()
		call()
	}
	panics("harena/trpcgo: harena/scope: RequestBytesMax is -1", func() {
		trpcgo.Register(server.New(), &testpb.EchoServer_ServiceDesc, &echo{}, trpcgo.Options{RequestBytesMax: -1})
	})
	panics("harena.test.echo.Echo: int not implements", func() {
		desc := testpb.EchoServer_ServiceDesc
		desc.StreamHandle = nil
		trpcgo.Register(server.New(), &desc, 1, trpcgo.Options{})
	})
	panics("harena/trpcgo: WithScopes: ", func() { trpcgo.WithScopes(trpcgo.ConnOptions{StreamScope: 7}) })
}

func TestWrapLeavesTheDescriptionAlone(t *testing.T) {
	service, err := trpcgo.Wrap(&testpb.EchoServer_ServiceDesc, trpcgo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decode := func(any) (filter.ServerChain, error) { return nil, nil }
	for _, c := range []struct {
		desc  *server.ServiceDesc
		scope bool
	}{{&testpb.EchoServer_ServiceDesc, false}, {service.Desc(), true}} {
		impl := &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
			if got := scope.From(ctx) != nil; got != c.scope {
				t.Errorf("the handler has a scope: %v", got)
			}
			return in, nil
		}}
		if _, err := c.desc.Methods[0].Func(impl, context.Background(), decode); err != nil {
			t.Error(err)
		}
	}
}

// A whole server registers with each of its services.
func TestServerOfSeveralServices(t *testing.T) {
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	whole := &server.Server{}
	var targets []string
	for _, name := range []string{"one", "two"} {
		target, _ := serve(t, func(s server.Service) { whole.AddService(name, s) }, server.WithServiceName(name))
		targets = append(targets, target)
	}
	service := trpcgo.Register(whole, &desc, &echo{}, trpcgo.Options{})
	for _, target := range targets {
		say(t, testpb.NewEchoClientProxy(client.WithTarget(target)), echotest.New("n"))
	}
	if m := service.Methods()[0]; m.ScopesStarted != 2 || m.Uncovered != 0 {
		t.Errorf("two calls count as %+v", m)
	}
}

// JSON is trpc-go's own affair, whether the client says so or the server assumes it.
func TestJSON(t *testing.T) {
	for name, c := range map[string]struct {
		client []client.Option
		server []server.Option
	}{
		"by the client": {client: []client.Option{client.WithSerializationType(codec.SerializationTypeJSON)}},
		"by both, unsaid": {
			client: []client.Option{client.WithCurrentSerializationType(codec.SerializationTypeJSON)},
			server: []server.Option{server.WithCurrentSerializationType(codec.SerializationTypeJSON)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{}, trpcgo.Options{}, c.server...)
			for range 20 {
				say(t, f.client, echotest.New("json"), c.client...)
			}
			if m := collected(t, f, "Say"); m.Uncovered != 20 || m.ScopesRetained != 20 {
				t.Errorf("20 calls in JSON count as %+v", m)
			}
		})
	}
}

// Where nothing is known of the server's options, stand-ins still are what other serializers take for
// messages.
func TestJSONUnderADescriptionThatWasWrapped(t *testing.T) {
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	service, err := trpcgo.Wrap(&desc, trpcgo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Service: service}
	f.target, _ = serve(t, func(s server.Service) {
		if err := s.Register(service.Desc(), &echo{}); err != nil {
			t.Fatal(err)
		}
	}, server.WithCurrentSerializationType(codec.SerializationTypeJSON))
	proxy := testpb.NewEchoClientProxy(client.WithTarget(f.target), client.WithCurrentSerializationType(codec.SerializationTypeJSON))
	for range 20 {
		say(t, proxy, echotest.New("json"))
	}
	if m := collected(t, f, "Say"); m.Uncovered != 20 || m.ScopesRetained != 20 {
		t.Errorf("20 calls in JSON count as %+v", m)
	}
}

// pickySerializer is somebody's own for protobuf, which knows its types.
type pickySerializer struct{}

func (pickySerializer) Unmarshal(in []byte, body any) error {
	return proto.Unmarshal(in, body.(*testpb.Note))
}
func (pickySerializer) Marshal(body any) ([]byte, error) { return proto.Marshal(body.(*testpb.Note)) }

func TestOtherSerializerWorksAsWithoutHarena(t *testing.T) {
	own := codec.GetSerializer(codec.SerializationTypePB)
	codec.RegisterSerializer(codec.SerializationTypePB, pickySerializer{})
	f := start(t, &echo{}, trpcgo.Options{})
	t.Cleanup(func() {
		f.stop() // trpc-go's table of serializers has no lock
		codec.RegisterSerializer(codec.SerializationTypePB, own)
	})
	for range 20 {
		say(t, f.client, echotest.New("picky"), trpcgo.WithScopes(trpcgo.ConnOptions{}))
	}
	if m := f.settled(t, "Say"); m.Uncovered != 20 || m.ScopesRetained != 20 {
		t.Errorf("20 calls with another serializer count as %+v", m)
	}
}

func TestRESTfulRoutesHaveAScope(t *testing.T) {
	plain := []*restful.Binding{{Name: sayName, Filter: func(impl any, ctx context.Context, request any) (any, error) {
		return impl.(testpb.EchoService).Say(ctx, request.(*testpb.Note))
	}}}
	desc := testpb.EchoServer_ServiceDesc
	desc.Methods = []server.Method{{Name: sayName, Func: desc.Methods[0].Func, Bindings: plain}}
	service, err := trpcgo.Wrap(&desc, trpcgo.Options{RequestBytesMax: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	route := service.Desc().Methods[0].Bindings[0].Filter
	in := echotest.New("rest")
	out, err := route(&echo{}, trpc.BackgroundContext(), in)
	if err != nil || !proto.Equal(out.(*testpb.Note), echotest.Shouted(in)) {
		t.Errorf("%v, %v", out, err)
	}
	_, err = route(&echo{say: func(ctx context.Context, _ *testpb.Note) (*testpb.Note, error) {
		arena.MakeSlice[byte](scope.From(ctx).Arena(), 200_000, 200_000)
		return nil, nil
	}}, trpc.BackgroundContext(), in)
	wantCode(t, err, 22, "200000 more were wanted")
	if m := service.Methods()[0]; m.ScopesStarted != 2 || m.ScopesAlive() != 0 || m.ScopesRetained != 2 || m.ScopesRefused != 1 {
		t.Errorf("two calls of a route count as %+v", m)
	}
}
