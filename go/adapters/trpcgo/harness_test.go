package trpcgo_test

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/log"
	"trpc.group/trpc-go/trpc-go/server"
	"trpc.group/trpc-go/trpc-go/stream"
	"trpc.group/trpc-go/trpc-go/transport"
	"trpc.group/trpc-go/trpc-go/transport/tnet"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

const (
	sayName     = "/harena.test.echo.Echo/Say"
	failName    = "/harena.test.echo.Echo/Fail"
	repeatName  = "/harena.test.echo.Echo/Repeat"
	collectName = "/harena.test.echo.Echo/Collect"
)

func TestMain(m *testing.M) {
	// trpc-go tells of each service that it launches.
	log.SetLevel("0", log.LevelFatal)
	if !useTnet {
		tnet.DefaultServerTransport = transport.DefaultServerStreamTransport
		tnet.DefaultClientTransport = transport.DefaultClientTransport
	}
	os.Exit(m.Run())
}

// echo is the service under test; a test may replace what a method does.
type echo struct {
	say     func(context.Context, *testpb.Note) (*testpb.Note, error)
	repeat  func(*testpb.Note, testpb.Echo_RepeatServer) error
	collect func(testpb.Echo_CollectServer) error
	chat    func(testpb.Echo_ChatServer) error
}

func (e *echo) Say(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
	if e.say != nil {
		return e.say(ctx, in)
	}
	return echotest.Shout(scope.From(ctx).Arena(), in), nil
}

func (e *echo) Fail(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
	return nil, errs.New(in.Number, in.Text)
}

func (e *echo) Repeat(in *testpb.Note, stream testpb.Echo_RepeatServer) error {
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

func (e *echo) Collect(stream testpb.Echo_CollectServer) error {
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

func (e *echo) Chat(stream testpb.Echo_ChatServer) error {
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

// plainEcho answers as echo does, without a scope.
var plainEcho = &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) { return echotest.Shouted(in), nil }}

// fixture is a running server with the echo service, and a client of it.
type fixture struct {
	*trpcgo.Service
	target string
	client testpb.EchoClientProxy
	stop   func()
}

// start runs the unary methods: a service with streams serves one request of a connection at a time.
func start(t testing.TB, impl *echo, options trpcgo.Options, serverOptions ...server.Option) *fixture {
	t.Helper()
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	return startDesc(t, &desc, impl, options, serverOptions)
}

func startStreams(t testing.TB, impl *echo, options trpcgo.Options, serverOptions ...server.Option) *fixture {
	t.Helper()
	desc := testpb.EchoServer_ServiceDesc
	desc.StreamHandle = stream.NewStreamDispatcher() // it belongs to one server
	return startDesc(t, &desc, impl, options, serverOptions)
}

func startDesc(t testing.TB, desc *server.ServiceDesc, impl *echo, options trpcgo.Options, serverOptions []server.Option) *fixture {
	t.Helper()
	f := &fixture{}
	f.target, f.stop = serve(t, func(s server.Service) { f.Service = trpcgo.Register(s, desc, impl, options) }, serverOptions...)
	f.client = testpb.NewEchoClientProxy(client.WithTarget(f.target))
	return f
}

// serve runs a server of the protocol trpc on the loopback interface until the test ends, and returns
// where.
func serve(t testing.TB, register func(server.Service), options ...server.Option) (target string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(append([]server.Option{
		server.WithServiceName("harena.test.echo.Echo"),
		server.WithProtocol(trpc.ProtocolName),
		server.WithNetwork("tcp"),
		server.WithListener(listener),
	}, options...)...)
	register(s)
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		closed := make(chan struct{}, 1)
		s.Close(closed)
		<-closed
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return "ip://" + listener.Addr().String(), stop
}

// method returns the counts of a method by its short name.
func (f *fixture) method(t testing.TB, name string) trpcgo.MethodStats {
	t.Helper()
	for _, m := range f.Methods() {
		if strings.HasSuffix(m.Name, "/"+name) {
			return m
		}
	}
	t.Fatalf("no method %s", name)
	return trpcgo.MethodStats{}
}

// settled waits until no scope is alive, which may be a little after the client has its reply, and
// returns the method's counts.
func (f *fixture) settled(t testing.TB, name string) trpcgo.MethodStats {
	t.Helper()
	return echotest.Settled(t, func() trpcgo.MethodStats { return f.method(t, name) }, func() {})
}

// collected is settled for calls whose end the garbage collector may have to find out.
func collected(t testing.TB, f *fixture, name string) trpcgo.MethodStats {
	t.Helper()
	return echotest.Settled(t, func() trpcgo.MethodStats { return f.method(t, name) }, runtime.GC)
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(trpc.BackgroundContext(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func wantCode[T errs.ErrCode](t testing.TB, err error, want T, parts ...string) {
	t.Helper()
	if int64(errs.Code(err)) != int64(want) {
		t.Errorf("code %v, want %v: %v", errs.Code(err), want, err)
	}
	echotest.WantText(t, err, parts...)
}

// recovering is a filter as servers have it, because trpc-go itself answers no panic.
func recovering(ctx context.Context, req any, next filter.ServerHandleFunc) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errs.Newf(errs.RetServerSystemErr, "recovered %v", p)
		}
	}()
	return next(ctx, req)
}

var errWrongAnswer = errors.New("wrong answer")

// freeUDPPort returns a port that nobody listened at a moment ago.
func freeUDPPort(t testing.TB) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, port, _ := net.SplitHostPort(conn.LocalAddr().String())
	return port
}
