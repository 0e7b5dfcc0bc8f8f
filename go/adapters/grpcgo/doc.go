// Package grpcgo gives each RPC of a grpc-go server a scope: its request is decoded into recycled
// memory, the handler may build its reply there, and all of it goes away when the reply is encoded.
//
//	server := grpc.NewServer()
//	grpcgo.Register(server, &pb.Feed_ServiceDesc, impl, grpcgo.Options{RequestBytesMax: 64 << 20})
//
// Handlers stay as they are. What the scope offers them is optional:
//
//	s := scope.From(ctx)                       // in every mode
//	reply := arena.NewOf[pb.Reply](s.Arena())
//	grpcgo.Retain(ctx)                         // to keep the request beyond the call
//
// # Lifetimes
//
// The request and what was made on the scope end when the reply is encoded. Strings are exempt: they stay
// valid for ever, each of them keeping the request's bytes alive. A handler that keeps more, in a cache
// or in a goroutine that outlives the call, says so by [Retain].
//
// Memory is recycled only after a normal return without an error. In every other case it is left to the
// garbage collector, where every pointer stays valid: after an error of any kind, a panic or a limit, and
// when an interceptor returns before its handler. So it is with grpc.EnableTracing.
//
// # What gRPC sees
//
// Interceptors, stats handlers and traces are given the real messages. The package registers a codec
// under the name "proto" when it is imported; see [Codec]. It does what gRPC's own does, except for
// the messages that a wrapped method waits for.
//
// # Limits
//
// An RPC that crosses Options.RequestBytesMax or DepthMax is answered RESOURCE_EXHAUSTED; if it does
// so while its request is decoded, the handler is not called. A handler meets the limit as the panic
// of an allocation, which the wrapper turns into that answer. Its goroutines, on arenas of
// [scope.Scope.NewArena], go on with memory of the heap; the RPC is answered so when it returns.
package grpcgo

import (
	"context"

	"github.com/harena-project/harena/go/scope"
)

// Retain keeps the request, and what the handler made on its scope, valid beyond the RPC. In a stream
// it keeps the message received last. Where the RPC has no scope there is nothing to do.
func Retain(ctx context.Context) { scope.Retain(ctx) }
