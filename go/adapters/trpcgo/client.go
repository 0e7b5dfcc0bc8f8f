package trpcgo

import (
	"context"
	"io"

	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/filter"

	"github.com/harena-project/harena/go/scope"
)

// ConnOptions are the settings of a client.
type ConnOptions struct {
	// StreamScope says how long the messages of a stream live that a client receives: until the next
	// one is received (PerMessage) or until the scope of the stream's context ends (PerStream).
	StreamScope StreamScope
}

// WithScopes is the option for a client whose replies are decoded into the scope of the call's
// context: that of the RPC which the caller serves, or one that the caller made and put there by
// [scope.NewContext]. Without a scope in mode codec the client works as without the option.
//
//	proxy := pb.NewFeedClientProxy(client.WithTarget(target), trpcgo.WithScopes(trpcgo.ConnOptions{}))
//
// Replies end with the scope. Each has an arena of its own, so that calls may be made from any number
// of goroutines at once, and may take as much as the scope's limit allows. One that would take more
// fails with the code RetClientOverload.
//
// It is a filter: give it after other filters. Those that come later see stand-ins of request and
// reply, which are proto.Messages but not of the user's types.
//
// It panics when the options are wrong.
func WithScopes(options ConnOptions) client.Option {
	if err := options.StreamScope.Validate(); err != nil {
		panic("harena/trpcgo: WithScopes: " + err.Error())
	}
	return func(o *client.Options) {
		client.WithNamedFilter("harena", invoke)(o)
		client.WithStreamFilter(options.newStream)(o)
	}
}

// invoke makes a unary call.
func invoke(ctx context.Context, request, reply any, next filter.ClientHandleFunc) error {
	s := clientScope(ctx)
	if s == nil {
		return next(ctx, request, reply)
	}
	known, msg := clientSettings(client.OptionsFromContext(ctx)), codec.Message(ctx)
	if !known.covered(msg) {
		return next(ctx, request, reply)
	}
	in := newReplyIn(s, msg.ClientRPCName())
	err := next(ctx, encodedByTables(request), in.standInFor(reply, known, msg))
	if err == nil {
		err = refusedReply(in.Refusal())
	}
	in.handOver(s, err)
	return err
}

// clientScope returns the scope that replies of a call are to live in, or nil.
func clientScope(ctx context.Context) *scope.Scope {
	s := scope.From(ctx)
	if s == nil || s.Mode() == scope.Heap || s.Ended() {
		return nil
	}
	return s
}

func newReplyIn(s *scope.Scope, method string) *incoming {
	in := new(incoming)
	in.Init(method, s)
	in.Arena = s.NewArena()
	return in
}

// handOver makes the arena of a reply that was received without an error the scope's. In every other case
// it is the garbage collector's, and also when trpc-go is still at it.
func (in *incoming) handOver(s *scope.Scope, err error) {
	if in.Close() && (err == nil || err == io.EOF) { // at its end a stream has received nothing
		s.Adopt(in.Arena)
	} else {
		s.AbandonArena(in.Arena)
	}
}

// encodedByTables returns the stand-in of a message that is sent, or what is no message as it is.
func encodedByTables(message any) any {
	if real, ok := valid(message); ok {
		return &outgoing{Message: real.ProtoReflect()}
	}
	return message
}

// newStream begins a stream.
func (o ConnOptions) newStream(ctx context.Context, desc *client.ClientStreamDesc, next client.Streamer) (client.ClientStream, error) {
	stream, err := next(ctx, desc)
	s := clientScope(ctx)
	if err != nil || s == nil || o.StreamScope == StreamHeap {
		return stream, err
	}
	return &clientStream{ClientStream: stream, options: o, scope: s, msg: codec.Message(ctx)}, nil
}

// clientStream is a stream whose received messages live in arenas.
type clientStream struct {
	client.ClientStream
	options ConnOptions
	scope   *scope.Scope
	msg     codec.Msg
	last    *incoming // of the goroutine that receives
}

// streamSettings: a stream's options are not told, so that its strings are copied.
var streamSettings = unknownSettings

// SendMsg encodes with Harena's tables.
func (s *clientStream) SendMsg(message any) error {
	if streamSettings.covered(s.msg) {
		message = encodedByTables(message)
	}
	return s.ClientStream.SendMsg(message)
}

// RecvMsg decodes into an arena.
func (s *clientStream) RecvMsg(message any) error {
	if s.options.StreamScope == PerMessage {
		s.drop()
	}
	if s.scope.Ended() {
		return s.ClientStream.RecvMsg(message)
	}
	in := newReplyIn(s.scope, s.msg.ClientRPCName())
	s.last = in
	err := s.ClientStream.RecvMsg(in.standInFor(message, streamSettings, s.msg))
	if err == nil {
		err = refusedReply(in.Refusal())
	}
	if s.options.StreamScope == PerStream || err != nil {
		in.handOver(s.scope, err)
	}
	return err
}

// drop ends the message before.
func (s *clientStream) drop() {
	if in := s.last; in != nil && in.Close() {
		if s.scope.Retained() {
			in.Arena.Retain()
		}
		in.Arena.Free()
	}
	s.last = nil
}
