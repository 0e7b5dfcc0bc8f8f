package connectgo

import (
	"fmt"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/scope"
)

// Service is the settings and counts of the handlers that were made with its HandlerOption.
//
// Thread rule: any goroutine.
type Service struct {
	options Options
	group   scope.Group
}

// method is what the hooks know of one method.
type method struct {
	name        string
	pool        *scope.Pool
	streamScope StreamScope
}

// New returns a service, or what is wrong with the options.
func New(options Options) (*Service, error) {
	if err := validate(options); err != nil {
		return nil, fmt.Errorf("harena/connectgo: %w", err)
	}
	scope.ProcessBudget().OnFull(endUnreachable)
	s := &Service{options: options}
	s.group.Publish("connect-go")
	return s, nil
}

// WithScopes is the one line for those who need no [Service]:
//
//	path, handler := feedconnect.NewFeedHandler(impl, connectgo.WithScopes(connectgo.Options{}))
//
// Give it after other options; see the package's documentation. It panics when the options are wrong.
func WithScopes(options Options) connect.HandlerOption {
	s, err := New(options)
	if err != nil {
		panic(err.Error())
	}
	return s.HandlerOption()
}

// HandlerOption returns the option for generated New...Handler functions, of one service or several.
// Give it after other options.
func (s *Service) HandlerOption() connect.HandlerOption {
	return connect.WithConditionalHandlerOptions(func(spec connect.Spec) []connect.HandlerOption {
		options := s.options.Method(spec.Procedure)
		pool, err := s.group.Add(spec.Procedure, options.Scope())
		if err != nil {
			panic("harena/connectgo: " + err.Error()) // New has looked at them
		}
		m := &method{name: spec.Procedure, pool: pool, streamScope: options.StreamScope}
		return []connect.HandlerOption{
			connect.WithCodec(&codec{method: m, unary: spec.StreamType == connect.StreamTypeUnary}),
			connect.WithInterceptors(&interceptor{method: m}),
		}
	})
}

// SetMode changes the mode of one method by its procedure name, or of all when the name is empty, for
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

// Methods returns the settings and counts of each method, in the order of the .proto file.
func (s *Service) Methods() []scope.MethodStats { return s.group.Methods() }
