package grpcgo_test

import (
	"context"
	"fmt"
	"net"
	"os"
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
	"github.com/harena-project/harena/go/scope"
)

// TestMain fails when a goroutine outlives all tests.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "goroutines left:\n%s\n", stacks[:runtime.Stack(stacks, true)])
			code = 1
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(code)
}

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
	return shout(scope.From(ctx).Arena(), in), nil
}

func (e *echo) Fail(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
	return nil, status.Error(codes.Code(in.Number), in.Text)
}

func (e *echo) Repeat(in *testpb.Note, stream grpc.ServerStreamingServer[testpb.Note]) error {
	if e.repeat != nil {
		return e.repeat(in, stream)
	}
	for range in.Number {
		if err := stream.Send(shout(scope.From(stream.Context()).Arena(), in)); err != nil {
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
		out.Children = arena.Append(a, out.Children, shout(a, in))
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
		if err := stream.Send(shout(scope.From(stream.Context()).Arena(), in)); err != nil {
			return err
		}
	}
}

// shout returns the note with its texts in upper case, in the arena.
func shout(a *arena.Arena, in *testpb.Note) *testpb.Note {
	out := arena.NewOf[testpb.Note](a)
	out.Text = a.String(strings.ToUpper(in.Text))
	out.Number = in.Number
	out.Blob = a.Bytes(in.Blob)
	out.Author = in.Author // part of the request, which lives as long
	out.Texts = arena.MakeSlice[string](a, 0, len(in.Texts))
	for _, text := range in.Texts {
		out.Texts = append(out.Texts, strings.ToUpper(text))
	}
	for _, child := range in.Children {
		out.Children = arena.Append(a, out.Children, shout(a, child))
	}
	out.Labels = arena.MakeMap[string, string](a)
	for k, v := range in.Labels {
		out.Labels[k] = strings.ToUpper(v)
	}
	return out
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
	for deadline := time.Now().Add(5 * time.Second); ; {
		m := f.method(t, name)
		if m.ScopesAlive() == 0 {
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: scopes stay alive: %+v", name, m)
		}
		time.Sleep(time.Millisecond)
	}
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
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

// plainEcho answers as echo does, without a scope.
type plainEcho struct {
	testpb.UnimplementedEchoServer
}

func (*plainEcho) Say(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
	return shouted(in), nil
}

func cancelAfter(t testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(testContext(t))
	timer := time.AfterFunc(d, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// collected is settled for calls whose end the garbage collector may have to find out.
func collected(t testing.TB, f *fixture, name string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); f.method(t, name).ScopesAlive() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%s: scopes stay alive: %+v", name, f.method(t, name))
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
}
