package trpcdemo

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/scope"
)

// Modes are the names that NewServer knows: heap first, the baseline of every comparison.
func Modes() []string { return []string{"heap", "codec"} }

// Server is a trpc-go server with the demo's service, as package serving wants it.
type Server struct {
	register func(server.Service) error
	mutex    sync.Mutex
	running  server.Service // nil before Serve and after a stop
	stopped  bool
}

// NewServer returns a server of the protocol trpc with the service in a mode:
//
//	heap   trpc-go by itself; no call goes through Harena
//	codec  the service registered with Harena
//
// The options, but for their Mode, are for mode codec.
func NewServer(mode string, impl benchpb.DemoServiceServer, o scope.ServiceOptions) (*Server, demo.Methods, error) {
	switch mode {
	case "heap":
		return &Server{register: func(s server.Service) error { return s.Register(desc(), impl) }}, nil, nil
	case "codec":
		var service atomic.Pointer[trpcgo.Service]
		register := func(s server.Service) error {
			service.Store(trpcgo.Register(s, desc(), impl, o))
			return nil
		}
		return &Server{register: register}, func() []scope.MethodStats {
			var all []scope.MethodStats
			if s := service.Load(); s != nil {
				for _, m := range s.Methods() {
					all = append(all, m.MethodStats)
				}
			}
			return all
		}, nil
	}
	return nil, nil, fmt.Errorf("no mode named %q; there are %s", mode, strings.Join(Modes(), ", "))
}

// Serve answers until the server is stopped.
func (s *Server) Serve(listener net.Listener) error {
	service := server.New(server.WithServiceName(workloads.ServiceName), server.WithProtocol(trpc.ProtocolName),
		server.WithNetwork("tcp"), server.WithListener(listener))
	if err := s.register(service); err != nil {
		return err
	}
	s.mutex.Lock()
	if s.stopped {
		s.mutex.Unlock()
		return listener.Close()
	}
	s.running = service
	s.mutex.Unlock()
	return service.Serve()
}

// GracefulStop lets the calls that are running end.
func (s *Server) GracefulStop() {
	s.mutex.Lock()
	service := s.running
	s.running, s.stopped = nil, true
	s.mutex.Unlock()
	if service != nil {
		_ = service.Close(make(chan struct{}, 1)) // it returns nil
	}
}

// Stop is GracefulStop: trpc-go waits for calls for a bounded time only.
func (s *Server) Stop() { s.GracefulStop() }
