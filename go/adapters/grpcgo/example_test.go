package grpcgo_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/capture"
	"github.com/harena-project/harena/go/scope"
)

// shouter answers with the text in upper case. It builds its reply on the scope; handlers that know
// nothing of scopes work as well.
type shouter struct {
	testpb.UnimplementedEchoServer
}

func (shouter) Say(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	a := scope.From(ctx).Arena()
	out := arena.NewOf[testpb.Note](a)
	out.Text = strings.ToUpper(in.Text)
	out.Author = in.Author // part of the request, which lives as long
	return out, nil
}

// One line in place of the generated RegisterEchoServer puts a service on scopes.
func ExampleRegister() {
	impl := shouter{}
	server := grpc.NewServer()
	grpcgo.Register(server, &testpb.Echo_ServiceDesc, impl, grpcgo.Options{RequestBytesMax: 64 << 20})

	conn, stop := serveExample(server)
	defer stop()
	out, err := testpb.NewEchoClient(conn).Say(context.Background(), &testpb.Note{Text: "hello"})
	fmt.Println(out.GetText(), err)
	// Output: HELLO <nil>
}

// A request that would take more than its method allows is refused before the memory is taken.
func ExampleService_Methods() {
	server := grpc.NewServer()
	service := grpcgo.Register(server, &testpb.Echo_ServiceDesc, shouter{}, grpcgo.Options{
		Methods: map[string]grpcgo.MethodOptions{
			testpb.Echo_Say_FullMethodName: {RequestBytesMax: 100_000, DepthMax: 20},
		},
	})
	conn, stop := serveExample(server)
	defer stop()
	_, err := testpb.NewEchoClient(conn).Say(context.Background(), &testpb.Note{Blob: make([]byte, 150_000)})
	fmt.Println(err)

	for _, m := range service.Methods() {
		if m.ScopesStarted > 0 {
			fmt.Println(m.Name, m.Options.Mode, m.ScopesStarted, "requests,", m.ScopesRefused, "refused")
		}
	}
	// Output:
	// rpc error: code = ResourceExhausted desc = harena/grpcgo: /harena.test.echo.Echo/Say: RequestBytesMax is 100000 bytes, and the request alone has 150004 on the wire
	// /harena.test.echo.Echo/Say codec 1 requests, 1 refused
}

// keeper keeps the last note that it was sent.
type keeper struct {
	testpb.UnimplementedEchoServer
	last *testpb.Note
}

func (k *keeper) Say(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	grpcgo.Retain(ctx) // in is valid for ever now
	k.last = in
	return &testpb.Note{}, nil
}

// A handler that keeps its request says so.
func ExampleRetain() {
	impl := &keeper{}
	server := grpc.NewServer()
	grpcgo.Register(server, &testpb.Echo_ServiceDesc, impl, grpcgo.Options{})
	conn, stop := serveExample(server)
	defer stop()
	_, err := testpb.NewEchoClient(conn).Say(context.Background(), &testpb.Note{Author: &testpb.Author{Name: "Ann"}})
	fmt.Println(impl.last.GetAuthor().GetName(), err)
	// Output: Ann <nil>
}

// Modes and limits change while the server runs.
func ExampleService_SetMode() {
	server := grpc.NewServer()
	service := grpcgo.Register(server, &testpb.Echo_ServiceDesc, shouter{}, grpcgo.Options{})
	fmt.Println(service.SetMode(testpb.Echo_Say_FullMethodName, scope.Heap))
	fmt.Println(service.SetRequestBytesMax(testpb.Echo_Fail_FullMethodName, 1<<20))
	fmt.Println(service.SetMode("", scope.Heap))
	// Output:
	// <nil>
	// <nil>
	// <nil>
}

// A client without an RPC of its own around it brings its scope.
func ExampleWrapConn() {
	server := grpc.NewServer()
	grpcgo.Register(server, &testpb.Echo_ServiceDesc, shouter{}, grpcgo.Options{})
	conn, stop := serveExample(server)
	defer stop()
	client := testpb.NewEchoClient(grpcgo.WrapConn(conn, grpcgo.ConnOptions{}))

	pool, err := scope.NewPool(scope.Options{}) // one per kind of call, kept
	if err != nil {
		panic(err)
	}
	s := pool.Get()
	out, err := client.Say(scope.NewContext(context.Background(), s), &testpb.Note{Text: "hello"})
	fmt.Println(out.GetText(), err)
	s.End() // from here on out is not to be used

	// Output: HELLO <nil>
}

// Sampled calls go to files, for `harena replay`.
func ExampleCaptureUnaryInterceptor() {
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
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(grpcgo.CaptureUnaryInterceptor(c, testpb.Echo_Say_FullMethodName)),
		grpc.ChainStreamInterceptor(grpcgo.CaptureStreamInterceptor(c, testpb.Echo_Chat_FullMethodName)))
	testpb.RegisterEchoServer(server, &plainEcho{})

	conn, stop := serveExample(server)
	_, err = testpb.NewEchoClient(conn).Say(context.Background(), &testpb.Note{Text: "hello"})
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

// serveExample runs the server on the loopback interface.
func serveExample(server *grpc.Server) (*grpc.ClientConn, func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go server.Serve(listener)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return conn, func() { conn.Close(); server.Stop() }
}
