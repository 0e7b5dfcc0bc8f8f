// Package connectgo gives each RPC of a connect-go handler a scope: its request is decoded into
// recycled memory, the handler may build its reply there, and all of it goes away when the reply is
// encoded. It serves the Connect, gRPC and gRPC-Web protocols.
//
//	path, handler := feedconnect.NewFeedHandler(impl, connectgo.WithScopes(connectgo.Options{
//		RequestBytesMax: 64 << 20,
//	}))
//
// Handlers stay as they are. What the scope offers them is optional:
//
//	s := scope.From(ctx)                       // in every mode
//	reply := arena.NewOf[pb.Reply](s.Arena())
//	connectgo.Retain(ctx)                      // to keep the request beyond the call
//
// # Order of options
//
// Give the option after others. Then the scope is the innermost interceptor's: those outside see the
// same messages, and a limit that the handler crosses is an error before connect.WithRecover sees a
// panic. In any other place everything works as well, except that the innermost interceptors meet the
// panic. A codec named "proto" that is given later replaces Harena's: then requests are on the heap.
//
// # Lifetimes
//
// The request and what was made on the scope end when the reply is encoded. Strings are exempt: they
// stay valid for ever, each of them keeping the request's bytes alive. A handler that keeps more, in a
// cache or in a goroutine that outlives the call, says so by [Retain].
//
// Memory is recycled only after a normal return without an error. In every other case it is left to the
// garbage collector, where every pointer stays valid: after an error of any kind, a panic or a limit, and
// when the reply is not encoded by this package's codec.
//
// # Limits
//
// An RPC that crosses Options.RequestBytesMax or DepthMax is answered resource_exhausted; if it does so
// while its request is decoded, the handler is not called. A handler meets the limit as the panic of an
// allocation, which the interceptor turns into that answer. Its goroutines, on arenas of
// [scope.Scope.NewArena], go on with memory of the heap; the RPC is answered so when it returns.
//
// A call that connect or an outer interceptor turns away after its request was decoded, as connect does
// with several messages in place of one, counts in Options.ProcessBytesMax until a garbage collection
// finds the request unreachable. When ProcessBytesMax has no room and requests are between decoding and
// their handler, the package collects before it refuses. Such collections take at most a tenth of the
// time; in between there may be refusals that a collection would have spared.
//
// # JSON
//
// Requests and replies in JSON are connect's own, on the heap. Handlers have a scope all the same,
// and its limit holds for what they make there.
//
// # Clients
//
// Clients are not covered: connect has no hook that knows both a call's context and its reply before
// that is decoded.
package connectgo

import (
	"context"

	"github.com/harena-project/harena/go/scope"
)

// Retain keeps the request, and what the handler made on its scope, valid beyond the RPC. In a stream
// it keeps the message received last. Where the RPC has no scope there is nothing to do.
func Retain(ctx context.Context) { scope.Retain(ctx) }
