package trpcgo_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/capture"
	"github.com/harena-project/harena/go/scope"
)

// shouter answers with the text in upper case. It builds its reply on the scope; handlers that know
// nothing of scopes work as well.
type shouter struct{ echo }

func (*shouter) Say(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	a := scope.From(ctx).Arena()
	out := arena.NewOf[testpb.Note](a)
	out.Text = strings.ToUpper(in.Text)
	out.Author = in.Author // part of the request, which lives as long
	return out, nil
}

// One line in place of the generated RegisterEchoService puts a service on scopes. The server is what
// trpc.NewServer or server.New returned.
func ExampleRegister() {
	impl := &shouter{}
	s, target, stop := newExampleServer()
	trpcgo.Register(s, &testpb.EchoServer_ServiceDesc, impl, trpcgo.Options{RequestBytesMax: 64 << 20})
	go s.Serve()
	defer stop()

	out, err := testpb.NewEchoClientProxy(client.WithTarget(target)).Say(trpc.BackgroundContext(), &testpb.Note{Text: "hello"})
	fmt.Println(out.GetText(), err)
	// Output: HELLO <nil>
}

// A request that would take more than its method allows is refused before the memory is taken.
func ExampleService_Methods() {
	s, target, stop := newExampleServer()
	service := trpcgo.Register(s, &testpb.EchoServer_ServiceDesc, &shouter{}, trpcgo.Options{
		Methods: map[string]trpcgo.MethodOptions{
			"/harena.test.echo.Echo/Say": {RequestBytesMax: 100_000, DepthMax: 20},
		},
	})
	go s.Serve()
	defer stop()
	proxy := testpb.NewEchoClientProxy(client.WithTarget(target))
	_, err := proxy.Say(trpc.BackgroundContext(), &testpb.Note{Blob: make([]byte, 150_000)})
	fmt.Println(err)

	for _, m := range service.Methods() {
		if m.ScopesStarted > 0 {
			fmt.Println(m.Name, m.Options.Mode, m.ScopesStarted, "requests,", m.ScopesRefused, "refused")
		}
	}
	// Output:
	// type:callee framework, code:22, msg:harena/trpcgo: /harena.test.echo.Echo/Say: RequestBytesMax is 100000 bytes, and the request alone has 150004 on the wire
	// /harena.test.echo.Echo/Say codec 1 requests, 1 refused
}

// keeper works on with the last note that it was sent.
type keeper struct {
	echo
	last chan string
}

func (k *keeper) Say(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	trpcgo.Retain(ctx) // in is valid for ever now
	go func() { k.last <- in.GetAuthor().GetName() }()
	return &testpb.Note{}, nil
}

// A handler that keeps its request, or hands it to a goroutine, says so before it returns.
func ExampleRetain() {
	impl := &keeper{last: make(chan string)}
	s, target, stop := newExampleServer()
	trpcgo.Register(s, &testpb.EchoServer_ServiceDesc, impl, trpcgo.Options{})
	go s.Serve()
	defer stop()
	proxy := testpb.NewEchoClientProxy(client.WithTarget(target))
	_, err := proxy.Say(trpc.BackgroundContext(), &testpb.Note{Author: &testpb.Author{Name: "Ann"}})
	fmt.Println(<-impl.last, err)
	// Output: Ann <nil>
}

// Modes and limits change while the server runs.
func ExampleService_SetMode() {
	s, _, _ := newExampleServer()
	service := trpcgo.Register(s, &testpb.EchoServer_ServiceDesc, &shouter{}, trpcgo.Options{})
	fmt.Println(service.SetMode("/harena.test.echo.Echo/Say", scope.Heap))
	fmt.Println(service.SetRequestBytesMax("/harena.test.echo.Echo/Fail", 1<<20))
	fmt.Println(service.SetMode("", scope.Heap))
	// Output:
	// <nil>
	// <nil>
	// <nil>
}

// A client without an RPC of its own around it brings its scope. A handler's context has one.
func ExampleWithScopes() {
	s, target, stop := newExampleServer()
	trpcgo.Register(s, &testpb.EchoServer_ServiceDesc, &shouter{}, trpcgo.Options{})
	go s.Serve()
	defer stop()
	proxy := testpb.NewEchoClientProxy(client.WithTarget(target), trpcgo.WithScopes(trpcgo.ConnOptions{}))

	pool, err := scope.NewPool(scope.Options{}) // one per kind of call, kept
	if err != nil {
		panic(err)
	}
	own := pool.Get()
	out, err := proxy.Say(scope.NewContext(trpc.BackgroundContext(), own), &testpb.Note{Text: "hello"})
	fmt.Println(out.GetText(), err)
	own.End() // from here on out is not to be used, but its strings are

	// Output: HELLO <nil>
}

// Sampled calls go to files, for `harena replay`.
func ExampleCaptureFilter() {
	directory, err := os.MkdirTemp("", "capture")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	quiet := slog.New(slog.DiscardHandler)

	c, err := capture.New(capture.Options{Directory: directory, OneIn: 1, Logger: quiet})
	if err != nil {
		panic(err)
	}
	filter.Register("harena_capture", trpcgo.CaptureFilter(c, "/harena.test.echo.Echo/Say"), nil)

	// What trpc.NewServer does for `server: filter: [harena_capture]` in trpc_go.yaml.
	s, target, stop := newExampleServer(server.WithFilter(filter.GetServer("harena_capture")))
	testpb.RegisterEchoService(s, plainEcho)
	go s.Serve()
	_, err = testpb.NewEchoClientProxy(client.WithTarget(target)).Say(trpc.BackgroundContext(), &testpb.Note{Text: "hello"})
	fmt.Println(err)
	stop()
	fmt.Println(c.Close()) // after the server has stopped
	for call, err := range capture.Calls(directory) {
		fmt.Printf("%s %q %q %v\n", call.Method, call.Request, call.Response, err)
	}
	// Output:
	// <nil>
	// <nil>
	// /harena.test.echo.Echo/Say "\n\x05hello" "\n\x05HELLO" <nil>
}

// newExampleServer returns a server of one service on the loopback interface.
func newExampleServer(options ...server.Option) (s server.Service, target string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s = server.New(append(options, server.WithServiceName("harena.test.echo.Echo"),
		server.WithProtocol(trpc.ProtocolName), server.WithNetwork("tcp"), server.WithListener(listener))...)
	return s, "ip://" + listener.Addr().String(), func() { s.Close(nil) }
}
