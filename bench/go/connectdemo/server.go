// Package connectdemo is the demo's service on connect-go, for clients of gRPC as well.
package connectdemo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/scope"
)

// Modes are the names that NewServer knows: heap first, the baseline of every comparison.
func Modes() []string { return []string{"heap", "codec"} }

// Server is an HTTP server with the demo's service, as package serving wants it. It speaks HTTP/2
// without TLS.
type Server struct{ http http.Server }

// NewServer returns a server with the service in a mode:
//
//	heap   connect-go by itself; no call goes through Harena
//	codec  the service with Harena's option
//
// The options, but for their Mode, are for mode codec.
func NewServer(mode string, impl benchpb.DemoServiceServer, o scope.ServiceOptions) (*Server, demo.Methods, error) {
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(demo.MessageBytesMax), connect.WithSendMaxBytes(demo.MessageBytesMax),
	}
	var methods demo.Methods
	switch mode {
	case "heap":
	case "codec":
		service, err := connectgo.New(o)
		if err != nil {
			return nil, nil, err
		}
		options = append(options, service.HandlerOption())
		methods = service.Methods
	default:
		return nil, nil, fmt.Errorf("no mode named %q; there are %s", mode, strings.Join(Modes(), ", "))
	}
	mux := http.NewServeMux()
	handle(mux, "Rank", impl.Rank, options)
	handle(mux, "BoardFeed", impl.BoardFeed, options)
	handle(mux, "RestyleTile", impl.RestyleTile, options)
	s := &Server{http: http.Server{Handler: mux, Protocols: new(http.Protocols)}}
	s.http.Protocols.SetUnencryptedHTTP2(true)
	return s, methods, nil
}

// handle does for one method what generated code does.
func handle[In, Out any](mux *http.ServeMux, name string, call func(context.Context, *In) (*Out, error), options []connect.HandlerOption) {
	procedure := "/" + workloads.ServiceName + "/" + name
	mux.Handle(procedure, connect.NewUnaryHandler(procedure,
		func(ctx context.Context, request *connect.Request[In]) (*connect.Response[Out], error) {
			out, err := call(ctx, request.Msg)
			if err != nil {
				return nil, err
			}
			return connect.NewResponse(out), nil
		}, options...))
}

// Serve answers until the server is stopped.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// GracefulStop lets the calls that are running end.
func (s *Server) GracefulStop() { _ = s.http.Shutdown(context.Background()) } // Stop ends it as well

// Stop ends everything now.
func (s *Server) Stop() { _ = s.http.Close() } // of what it closes nothing is needed any more
