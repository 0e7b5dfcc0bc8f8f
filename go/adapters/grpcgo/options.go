package grpcgo

import "github.com/harena-project/harena/go/scope"

// Options are the settings of a wrapped service.
type Options = scope.ServiceOptions

// MethodOptions are the settings of one method, in place of those in [Options]. A limit that it does not
// name is the service's; [scope.NoLimit] lifts it.
type MethodOptions = scope.MethodOptions

// StreamScope says how long the memory of a stream's messages lives.
type StreamScope = scope.StreamScope

// The values of StreamScope, as package scope explains them.
const (
	StreamHeap = scope.StreamHeap // gRPC's own messages, the default
	PerMessage = scope.PerMessage // until the next message
	PerStream  = scope.PerStream  // until the handler returns
)
