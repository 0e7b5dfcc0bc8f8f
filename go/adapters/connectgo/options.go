package connectgo

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/harena-project/harena/go/scope"
)

// Options are the settings of a service. The zero value is mode codec without limits for unary
// methods, and streams as connect serves them.
type Options struct {
	// Mode of the methods; it may be changed while the server runs.
	Mode scope.Mode

	// RequestBytesMax bounds what one RPC may take, in bytes: its decoded request, the request's
	// bytes after decompression, and what the handler makes on the scope. Zero means no bound.
	// Requests in JSON are bounded by connect.WithReadMaxBytes only.
	RequestBytesMax int64

	// DepthMax bounds how deeply messages may nest. Zero means protobuf's own limit.
	DepthMax int

	// StreamScope says how streams use scopes.
	StreamScope StreamScope

	// Methods has whole sets of settings for single methods, by their procedure names
	// ("/package.Service/Method").
	Methods map[string]MethodOptions
}

// MethodOptions are the settings of one method, in place of those in [Options].
type MethodOptions struct {
	Mode            scope.Mode
	RequestBytesMax int64
	DepthMax        int
	StreamScope     StreamScope
}

// StreamScope says how long the memory of a stream's messages lives.
type StreamScope = scope.StreamScope

// The values of StreamScope, as package scope explains them.
const (
	StreamHeap = scope.StreamHeap // connect's own messages, the default
	PerMessage = scope.PerMessage // until the next message
	PerStream  = scope.PerStream  // until the handler returns
)

func (o Options) method(name string) MethodOptions {
	if own, found := o.Methods[name]; found {
		return own
	}
	return MethodOptions{
		Mode:            o.Mode,
		RequestBytesMax: o.RequestBytesMax,
		DepthMax:        o.DepthMax,
		StreamScope:     o.StreamScope,
	}
}

func (o MethodOptions) scope() scope.Options {
	return scope.Options{Mode: o.Mode, RequestBytesMax: o.RequestBytesMax, DepthMax: o.DepthMax}
}

func (o MethodOptions) validate() error {
	if err := o.StreamScope.Validate(); err != nil {
		return err
	}
	return o.scope().Validate()
}

func (o Options) validate() error {
	if err := o.method("").validate(); err != nil {
		return err
	}
	for name, own := range o.Methods {
		if err := methodExists(name); err != nil {
			return err
		}
		if err := own.validate(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// methodExists looks a procedure up among the schemas that the program knows: connect names its
// procedures only when their handlers are made.
func methodExists(name string) error {
	service, method, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	desc, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok || !strings.HasPrefix(name, "/") {
		return fmt.Errorf("no method %q: its service is not known; want a name like /package.Service/Method", name)
	}
	var known []string
	for i := range desc.Methods().Len() {
		if string(desc.Methods().Get(i).Name()) == method {
			return nil
		}
		known = append(known, "/"+service+"/"+string(desc.Methods().Get(i).Name()))
	}
	return fmt.Errorf("no method %q; known are %s", name, strings.Join(known, ", "))
}
