package grpcgo

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/harena-project/harena/go/scope"
)

// Service is a wrapped service: its settings and its counts.
//
// Thread rule: any goroutine.
type Service struct {
	group *scope.Group
	desc  grpc.ServiceDesc
	names []string
	of    map[string]*method

	// Whether somebody may look at a reply after it was encoded: see encoded.go.
	replyWatched atomic.Bool
}

// method is what the wrapper knows of one method.
type method struct {
	service     *Service
	name        string // full
	pool        *scope.Pool
	streamScope StreamScope
	replySize   atomic.Int64 // of the last reply, in bytes
}

// MethodStats is one method's entry of [Service.Methods].
type MethodStats struct {
	// Uncovered counts messages in mode codec that another codec than Harena's decoded, so that they
	// were on the heap. Above zero, something replaced the codec; see [Codec].
	scope.MethodStats
}

// Register wraps a service and registers it:
//
//	grpcgo.Register(server, &pb.Feed_ServiceDesc, impl, grpcgo.Options{RequestBytesMax: 64 << 20})
//
// Like gRPC's own registration it does not return when the call is wrong: it panics with what
// [Wrap] finds wrong with the options.
func Register(registrar grpc.ServiceRegistrar, desc *grpc.ServiceDesc, impl any, options Options) *Service {
	s, err := Wrap(desc, options)
	if err != nil {
		panic(err.Error())
	}
	s.replyWatched.Store(mayWatchReplies(registrar))
	registrar.RegisterService(s.Desc(), impl)
	return s
}

// Wrap returns the service whose Desc is to be registered in place of desc, which stays as it is. It
// is Register for callers whose options come from outside, and for registrars that want the
// description. The error says what is wrong with the options.
func Wrap(desc *grpc.ServiceDesc, options Options) (*Service, error) {
	s := &Service{desc: *desc, of: make(map[string]*method)}
	s.replyWatched.Store(true)
	if err := s.wrapMethods(options); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Service) wrapMethods(options Options) error {
	for _, m := range s.desc.Methods {
		s.add(m.MethodName, options)
	}
	for _, d := range s.desc.Streams {
		s.add(d.StreamName, options)
	}
	var err error
	if s.group, err = options.NewGroup(s.names); err != nil {
		return fmt.Errorf("harena/grpcgo: %w", err)
	}
	s.group.Publish("grpc-go")
	for name, m := range s.of {
		m.pool = s.group.Pool(name)
	}

	methods := make([]grpc.MethodDesc, len(s.desc.Methods))
	for i, m := range s.desc.Methods {
		methods[i] = grpc.MethodDesc{MethodName: m.MethodName, Handler: s.of[s.fullName(m.MethodName)].unary(m.Handler)}
	}
	streams := make([]grpc.StreamDesc, len(s.desc.Streams))
	for i, d := range s.desc.Streams {
		d.Handler = s.of[s.fullName(d.StreamName)].stream(d.Handler)
		streams[i] = d
	}
	s.desc.Methods, s.desc.Streams = methods, streams
	return nil
}

func (s *Service) add(name string, options Options) {
	name = s.fullName(name)
	s.names = append(s.names, name)
	s.of[name] = &method{service: s, name: name, streamScope: options.Method(name).StreamScope}
}

func (s *Service) fullName(method string) string { return "/" + s.desc.ServiceName + "/" + method }

// Desc returns the wrapped description.
func (s *Service) Desc() *grpc.ServiceDesc { return &s.desc }

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

// mayWatchReplies reports whether a stats handler may look at a reply after it was encoded. gRPC does
// not tell, so this reads the server's own field; where it is not found the answer is yes, which is
// always correct and keeps a reply's memory a little longer.
func mayWatchReplies(registrar grpc.ServiceRegistrar) bool {
	server, ok := registrar.(*grpc.Server)
	if !ok || server == nil {
		return true
	}
	handler := reflect.ValueOf(server).Elem().FieldByName("statsHandler")
	return !handler.IsValid() || handler.Kind() != reflect.Interface || !handler.IsNil()
}
