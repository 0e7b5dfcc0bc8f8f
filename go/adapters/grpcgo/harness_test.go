package grpcgo_test

import (
	"context"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestMain(m *testing.M) { echotest.Main(m) }

// echo is the service under test; a test may replace what a method does.
type echo struct {
	testpb.UnimplementedEchoServer
	say     func(context.Context, *testpb.Note) (*testpb.Note, error)
	repeat  func(*testpb.Note, grpc.ServerStreamingServer[testpb.Note]) error
	collect func(grpc.ClientStreamingServer[testpb.Note, testpb.Note]) error
	chat    func(grpc.BidiStreamingServer[testpb.Note, testpb.Note]) error
}

func (e *echo) Say(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	if e.say != nil {
		return e.say(ctx, in)
	}
	return echotest.Shout(scope.From(ctx).Arena(), in), nil
}

func (e *echo) Fail(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
	return nil, status.Error(codes.Code(in.Number), in.Text)
}

func (e *echo) Repeat(in *testpb.Note, stream grpc.ServerStreamingServer[testpb.Note]) error {
	if e.repeat != nil {
		return e.repeat(in, stream)
	}
	for range in.Number {
		if err := stream.Send(echotest.Shout(scope.From(stream.Context()).Arena(), in)); err != nil {
			return err
		}
	}
	return nil
}

func (e *echo) Collect(stream grpc.ClientStreamingServer[testpb.Note, testpb.Note]) error {
	if e.collect != nil {
		return e.collect(stream)
	}
	out := arena.NewOf[testpb.Note](scope.From(stream.Context()).Arena())
	for {
		in, err := stream.Recv()
		if err != nil {
			return stream.SendAndClose(out)
		}
		// A copy in the reply's own scope: with PerMessage the note ends at the next Recv.
		a := scope.From(stream.Context()).Arena()
		out.Children = arena.Append(a, out.Children, echotest.Shout(a, in))
	}
}

func (e *echo) Chat(stream grpc.BidiStreamingServer[testpb.Note, testpb.Note]) error {
	if e.chat != nil {
		return e.chat(stream)
	}
	for {
		in, err := stream.Recv()
		if err != nil {
			return nil
		}
		if err := stream.Send(echotest.Shout(scope.From(stream.Context()).Arena(), in)); err != nil {
			return err
		}
	}
}

// fixture is a running server with the echo service, and a connection to it.
type fixture struct {
	*grpcgo.Service
	server *grpc.Server
	conn   *grpc.ClientConn
	client testpb.EchoClient
}

func start(t testing.TB, impl *echo, options grpcgo.Options, serverOptions ...grpc.ServerOption) *fixture {
	t.Helper()
	server := grpc.NewServer(serverOptions...)
	f := &fixture{server: server, Service: grpcgo.Register(server, &testpb.Echo_ServiceDesc, impl, options)}
	f.conn = serve(t, server)
	f.client = testpb.NewEchoClient(f.conn)
	return f
}

// serve runs the server until the test ends, and returns a connection to it.
func serve(t testing.TB, server *grpc.Server) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///test",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
		if err := <-done; err != nil && err != grpc.ErrServerStopped { // stopped before it began
			t.Errorf("Serve: %v", err)
		}
	})
	return conn
}

// method returns the counts of a method by its short name.
func (f *fixture) method(t testing.TB, name string) grpcgo.MethodStats {
	t.Helper()
	for _, m := range f.Methods() {
		if strings.HasSuffix(m.Name, "/"+name) {
			return m
		}
	}
	t.Fatalf("no method %s", name)
	return grpcgo.MethodStats{}
}

// settled waits until no scope is alive, which may be a little after the client has its reply, and
// returns the method's counts.
func (f *fixture) settled(t testing.TB, name string) grpcgo.MethodStats {
	t.Helper()
	return echotest.Settled(t, func() grpcgo.MethodStats { return f.method(t, name) }, func() {})
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t testing.TB, err error, want codes.Code, parts ...string) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("code %v, want %v: %v", status.Code(err), want, err)
	}
	echotest.WantText(t, err, parts...)
}

// plainEcho answers as echo does, without a scope.
type plainEcho struct {
	testpb.UnimplementedEchoServer
}

func (*plainEcho) Say(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
	return echotest.Shouted(in), nil
}

func cancelAfter(t testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(testContext(t))
	timer := time.AfterFunc(d, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// collected is settled for calls whose end the garbage collector may have to find out.
func collected(t testing.TB, f *fixture, name string) {
	t.Helper()
	echotest.Settled(t, func() grpcgo.MethodStats { return f.method(t, name) }, runtime.GC)
}
