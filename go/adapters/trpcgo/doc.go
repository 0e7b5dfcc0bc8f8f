// Package trpcgo gives each RPC of a trpc-go server a scope: its request is decoded into recycled
// memory, the handler may build its reply there, and all of it goes away when the reply is encoded.
//
//	s := trpc.NewServer()
//	trpcgo.Register(s, &pb.FeedServer_ServiceDesc, impl, trpcgo.Options{RequestBytesMax: 64 << 20})
//
// Handlers stay as they are. What the scope offers them is optional:
//
//	s := scope.From(ctx)                       // in every mode
//	reply := arena.NewOf[pb.Reply](s.Arena())
//	trpcgo.Retain(ctx)                         // to keep the request beyond the call
//
// # Lifetimes
//
// The request and what was made on the scope end when the reply is encoded; with one-way calls, when the
// handler and all filters have returned. A deadline ends nothing: trpc-go waits for the handler, and the
// memory does too. Strings are exempt: they stay valid for ever, each of them keeping the request's bytes
// alive. A handler that keeps more, in a cache or in a goroutine that outlives the call, as trpc.Go begins
// one, says so by [Retain] before it returns.
//
// Strings are parts of the frame in which the request came, without a copy, when it is certain that
// nobody writes to it: with the protocol "trpc", trpc-go's own framer, codec and transports (net,
// tnet, UDP) and its own decompressors. In all other cases the bytes are copied once.
//
// Memory is recycled only after a normal return without an error. In every other case it is left to the
// garbage collector, where every pointer stays valid: after an error of any kind, a panic or a limit, and
// when a filter returns before its handler.
//
// # What trpc-go sees
//
// Filters of a server are given the real messages. Its serializer for protobuf is given stand-ins:
// messages that decode and encode themselves. Other serializations (JSON, say) and serializers that
// somebody registered in place of trpc-go's own get the real messages, on the heap; handlers have a
// scope all the same, and its limit holds for what they make there. [MethodStats] counts such messages
// as Uncovered. RESTful routes are served so, too.
//
// Filters of streams, when StreamScope is PerMessage or PerStream, see the stand-ins: proto.Messages
// with the fields, the descriptor and the text of the real ones, but not of their Go type.
//
// # Limits
//
// An RPC that crosses Options.RequestBytesMax is answered with the framework's code RetServerOverload
// (22), as trpc-go answers when it has no goroutine to spare: the memory that one request may have is
// used up. One that crosses DepthMax is answered RetServerDecodeFail (1), as for protobuf's own limit.
// If that happens while the request is decoded, the handler is not called. A handler meets the limit
// as the panic of an allocation, which the wrapper turns into that answer. Its goroutines, on arenas of
// [scope.Scope.NewArena], go on with memory of the heap; the RPC is answered so when it returns. It makes
// no sense to send such a request again: a client that retries on 22 should not do so for these methods.
//
// How much trpc-go reads before anything is decoded is bounded by trpc.DefaultMaxFrameSize, and what a
// compressed body decompresses to by [BoundDecompression], if it was called.
package trpcgo

import (
	"context"

	"github.com/harena-project/harena/go/scope"
)

// Retain keeps the request, and what the handler made on its scope, valid beyond the RPC. In a stream
// it keeps the message received last. Where the RPC has no scope there is nothing to do.
func Retain(ctx context.Context) { scope.Retain(ctx) }
