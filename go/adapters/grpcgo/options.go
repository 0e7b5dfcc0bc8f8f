package grpcgo

import "github.com/harena-project/harena/go/scope"

// Options are the settings of a wrapped service. The zero value is mode codec without limits for
// unary methods, and streams as gRPC serves them.
type Options struct {
	// Mode of the methods; it may be changed while the server runs.
	Mode scope.Mode

	// RequestBytesMax bounds what one RPC may take, in bytes: its decoded request, the request's wire
	// bytes, and what the handler makes on the scope. Zero means no bound.
	RequestBytesMax int64

	// DepthMax bounds how deeply messages may nest. Zero means protobuf's own limit.
	DepthMax int

	// StreamScope says how streams use scopes.
	StreamScope StreamScope

	// Methods has whole sets of settings for single methods, by their full names
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
	StreamHeap = scope.StreamHeap // gRPC's own messages, the default
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
