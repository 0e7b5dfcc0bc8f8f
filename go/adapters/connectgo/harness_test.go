package connectgo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func TestMain(m *testing.M) { echotest.Main(m) }

// echo is the service under test; a test may replace what a method does.
type echo struct {
	say     func(context.Context, *testpb.Note) (*testpb.Note, error)
	repeat  func(context.Context, *testpb.Note, *connect.ServerStream[testpb.Note]) error
	collect func(context.Context, *connect.ClientStream[testpb.Note]) (*testpb.Note, error)
	chat    func(context.Context, *connect.BidiStream[testpb.Note, testpb.Note]) error
}

func (e *echo) Say(ctx context.Context, in *connect.Request[testpb.Note]) (*connect.Response[testpb.Note], error) {
	if e.say == nil {
		return connect.NewResponse(echotest.Shout(scope.From(ctx).Arena(), in.Msg)), nil
	}
	out, err := e.say(ctx, in.Msg)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}

func (e *echo) Fail(_ context.Context, in *connect.Request[testpb.Note]) (*connect.Response[testpb.Note], error) {
	return nil, connect.NewError(connect.Code(in.Msg.Number), errors.New(in.Msg.Text))
}

func (e *echo) Repeat(ctx context.Context, in *connect.Request[testpb.Note], stream *connect.ServerStream[testpb.Note]) error {
	if e.repeat != nil {
		return e.repeat(ctx, in.Msg, stream)
	}
	for range in.Msg.Number {
		if err := stream.Send(echotest.Shout(scope.From(ctx).Arena(), in.Msg)); err != nil {
			return err
		}
	}
	return nil
}

func (e *echo) Collect(ctx context.Context, stream *connect.ClientStream[testpb.Note]) (*connect.Response[testpb.Note], error) {
	if e.collect != nil {
		out, err := e.collect(ctx, stream)
		if err != nil {
			return nil, err
		}
		return connect.NewResponse(out), nil
	}
	a := scope.From(ctx).Arena()
	out := arena.NewOf[testpb.Note](a)
	for stream.Receive() {
		// A copy in the reply's own scope: with PerMessage the note ends after the next Receive.
		out.Children = arena.Append(a, out.Children, echotest.Shout(a, stream.Msg()))
	}
	return connect.NewResponse(out), stream.Err()
}

func (e *echo) Chat(ctx context.Context, stream *connect.BidiStream[testpb.Note, testpb.Note]) error {
	if e.chat != nil {
		return e.chat(ctx, stream)
	}
	for {
		in, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(echotest.Shout(scope.From(ctx).Arena(), in)); err != nil {
			return err
		}
	}
}

// fixture is a running HTTP server, without TLS, for HTTP/1.1 and HTTP/2.
type fixture struct {
	*connectgo.Service
	server *httptest.Server
}

func start(t testing.TB, impl *echo, options connectgo.Options, handlerOptions ...connect.HandlerOption) *fixture {
	t.Helper()
	service, err := connectgo.New(options)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Service: service}
	f.server = serve(t, impl, append(handlerOptions, service.HandlerOption())...)
	return f
}

func serve(t testing.TB, impl testpbconnect.EchoHandler, options ...connect.HandlerOption) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(testpbconnect.NewEchoHandler(impl, options...))
	server := httptest.NewUnstartedServer(mux)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // panics that tests provoke
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// protocol is a way to talk to the server.
type protocol struct {
	name    string
	http2   bool
	options []connect.ClientOption
}

func protocols() []protocol {
	var all []protocol
	for _, http2 := range []bool{false, true} {
		for name, options := range map[string][]connect.ClientOption{
			"connect":      nil,
			"connect json": {connect.WithProtoJSON()},
			"connect gzip": {connect.WithSendGzip()},
			"grpc":         {connect.WithGRPC()},
			"grpc gzip":    {connect.WithGRPC(), connect.WithSendGzip()},
			"grpc json":    {connect.WithGRPC(), connect.WithProtoJSON()},
			"grpc-web":     {connect.WithGRPCWeb()},
		} {
			if !http2 && strings.HasPrefix(name, "grpc") && name != "grpc-web" {
				continue // gRPC needs HTTP/2
			}
			all = append(all, protocol{fmt.Sprintf("%s http2=%v", name, http2), http2, options})
		}
	}
	return all
}

func (p protocol) json() bool { return strings.Contains(p.name, "json") }

func (p protocol) client(t testing.TB, server *httptest.Server) testpbconnect.EchoClient {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!p.http2)
	transport.Protocols.SetUnencryptedHTTP2(p.http2)
	t.Cleanup(transport.CloseIdleConnections)
	return testpbconnect.NewEchoClient(&http.Client{Transport: transport}, server.URL, p.options...)
}

var overHTTP2 = protocol{"connect", true, nil}

func (f *fixture) client(t testing.TB) testpbconnect.EchoClient { return overHTTP2.client(t, f.server) }

// method returns the counts of a method by its short name.
func (f *fixture) method(t testing.TB, name string) scope.MethodStats {
	t.Helper()
	for _, m := range f.Methods() {
		if strings.HasSuffix(m.Name, "/"+name) {
			return m
		}
	}
	t.Fatalf("no method %s", name)
	return scope.MethodStats{}
}

// settled waits until no scope is alive and returns the method's counts.
func (f *fixture) settled(t testing.TB, name string) scope.MethodStats {
	t.Helper()
	// The garbage collector finds calls that an interceptor turned away.
	return echotest.Settled(t, func() scope.MethodStats { return f.method(t, name) }, runtime.GC)
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t testing.TB, err error, want connect.Code, parts ...string) {
	t.Helper()
	if connect.CodeOf(err) != want {
		t.Errorf("code %v, want %v: %v", connect.CodeOf(err), want, err)
	}
	echotest.WantText(t, err, parts...)
}

// plainEcho answers as echo does, without a scope.
type plainEcho struct {
	testpbconnect.UnimplementedEchoHandler
}

func (plainEcho) Say(_ context.Context, in *connect.Request[testpb.Note]) (*connect.Response[testpb.Note], error) {
	return connect.NewResponse(echotest.Shouted(in.Msg)), nil
}
