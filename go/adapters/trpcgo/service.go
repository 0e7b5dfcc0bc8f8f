package trpcgo

import (
	"fmt"

	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/scope"
)

// Service is a wrapped service: its settings and its counts.
//
// Thread rule: any goroutine.
type Service struct {
	group *scope.Group
	desc  server.ServiceDesc // as it was given
	names []string
	of    map[string]*method
}

// method is what the wrapper knows of one method.
type method struct {
	name        string // full
	pool        *scope.Pool
	streamScope StreamScope
}

// MethodStats is one method's entry of [Service.Methods].
type MethodStats struct {
	// Uncovered counts messages in mode codec that came in another serialization than protobuf's, or
	// to another serializer than trpc-go's own for protobuf, so that they were on the heap.
	scope.MethodStats
}

// Register wraps a service and registers it, in place of the generated function:
//
//	trpcgo.Register(s, &pb.FeedServer_ServiceDesc, impl, trpcgo.Options{RequestBytesMax: 64 << 20})
//
// The registrar is what server.New or trpc.NewServer returned, or one service of the latter. Like the
// generated function it does not return when the call is wrong: it panics with what [Wrap] finds wrong
// with the options, and with the registrar's error.
func Register(registrar server.Service, desc *server.ServiceDesc, impl any, options Options) *Service {
	s, err := Wrap(desc, options)
	if err != nil {
		panic(err.Error())
	}
	for _, one := range servicesOf(registrar) {
		if err := one.Register(s.bind(settingsOf(one)), impl); err != nil {
			panic(fmt.Sprintf("harena/trpcgo: %s: %v", desc.ServiceName, err))
		}
	}
	return s
}

// Wrap returns the service whose Desc is to be registered in place of desc, which stays as it is. It
// is Register for callers whose options come from outside, and for registrars that want the
// description. The error says what is wrong with the options.
func Wrap(desc *server.ServiceDesc, options Options) (*Service, error) {
	s := &Service{desc: *desc, of: make(map[string]*method)}
	for _, m := range desc.Methods {
		s.names = append(s.names, m.Name)
	}
	for _, d := range desc.Streams {
		s.names = append(s.names, d.StreamName)
	}
	var err error
	if s.group, err = options.NewGroup(s.names); err != nil {
		return nil, fmt.Errorf("harena/trpcgo: %w", err)
	}
	s.group.Publish("trpc-go")
	for _, name := range s.names {
		s.of[name] = &method{name: name, pool: s.group.Pool(name), streamScope: options.Method(name).StreamScope}
	}
	return s, nil
}

// Desc returns the wrapped description. Where it is registered by other means than [Register], nothing
// is known of the server's settings, and the bytes of each request are copied once more for its
// strings.
func (s *Service) Desc() *server.ServiceDesc { return s.bind(unknownSettings) }

// bind returns the wrapped description for a server with the settings.
func (s *Service) bind(known settings) *server.ServiceDesc {
	desc := s.desc
	desc.Methods = make([]server.Method, len(s.desc.Methods))
	for i, m := range s.desc.Methods {
		wrapped := s.of[m.Name]
		m.Func, m.Bindings = wrapped.unary(m.Func, known), wrapped.bindings(m.Bindings)
		desc.Methods[i] = m
	}
	desc.Streams = make([]server.StreamDesc, len(s.desc.Streams))
	for i, d := range s.desc.Streams {
		d.Handler = s.of[d.StreamName].stream(d.Handler, known)
		desc.Streams[i] = d
	}
	return &desc
}

// SetMode changes the mode of one method by its full name, or of all when the name is empty, for
// RPCs from now on. Limits are not held in mode heap; they are held again from when the mode is codec. When
// a change cannot be (an unknown method), nothing changes for any method and the error says why.
func (s *Service) SetMode(method string, mode scope.Mode) error { return s.group.SetMode(method, mode) }

// SetRequestBytesMax changes the limit likewise.
func (s *Service) SetRequestBytesMax(method string, bytesMax int64) error {
	return s.group.SetRequestBytesMax(method, bytesMax)
}

// SetDepthMax changes the depth limit likewise.
func (s *Service) SetDepthMax(method string, depthMax int) error {
	return s.group.SetDepthMax(method, depthMax)
}

// SetDecodedRatioMax changes the bound of decoding likewise.
func (s *Service) SetDecodedRatioMax(method string, ratioMax float64) error {
	return s.group.SetDecodedRatioMax(method, ratioMax)
}

// Change changes any options that may change while a server runs, likewise; see [scope.Group.Change].
func (s *Service) Change(method string, edit func(*scope.Options)) error {
	return s.group.Change(method, edit)
}

// Methods returns the settings and counts of each method: unary ones first, in the order of the
// .proto file.
func (s *Service) Methods() []MethodStats {
	all := make([]MethodStats, 0, len(s.names))
	for _, stats := range s.group.Methods() {
		all = append(all, MethodStats{stats})
	}
	return all
}
