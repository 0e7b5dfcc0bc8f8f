package grpcgo

import (
	"context"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/harena-project/harena/go/scope"
)

// Conn is a client connection whose replies are decoded into the scope of the call's context: that
// of the RPC which the caller serves, or one that the caller made and put there by
// [scope.NewContext]. Without a scope in mode codec it is the connection that it wraps.
//
//	client := pb.NewFeedClient(grpcgo.WrapConn(conn, grpcgo.ConnOptions{}))
//
// Replies end with the scope. Each has an arena of its own, so that calls may be made from any number
// of goroutines at once, and may take as much as the scope's limit allows. One that would take more
// fails with the code RESOURCE_EXHAUSTED.
//
// Thread rule: any goroutine.
type Conn struct {
	conn    grpc.ClientConnInterface
	options ConnOptions
	size    atomic.Int64 // of the last request, in bytes
}

// ConnOptions are the settings of a wrapped connection.
type ConnOptions struct {
	// StreamScope says how long the messages of a stream live that a client receives: until the next
	// one is received (PerMessage) or until the scope of the stream's context ends (PerStream).
	StreamScope StreamScope
}

// WrapConn wraps a connection.
func WrapConn(conn grpc.ClientConnInterface, options ConnOptions) *Conn {
	if err := options.StreamScope.Validate(); err != nil {
		panic("harena/grpcgo: WrapConn: " + err.Error())
	}
	return &Conn{conn: conn, options: options}
}

// Invoke makes a unary call. It is for generated code.
func (c *Conn) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	s := clientScope(ctx)
	if s == nil {
		return c.conn.Invoke(ctx, method, args, reply, options...)
	}
	out := outgoing{size: &c.size}
	out.put(args)
	defer out.remove(args)
	in := newReplyIn(s, method)
	err := in.receive(func(reply any) error {
		return c.conn.Invoke(ctx, method, args, reply, options...)
	}, reply)
	in.handOver(s, err)
	return err
}

// NewStream begins a stream. It is for generated code.
func (c *Conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.conn.NewStream(ctx, desc, method, options...)
	s := clientScope(ctx)
	if err != nil || s == nil || c.options.StreamScope == StreamHeap {
		return stream, err
	}
	return &clientStream{ClientStream: stream, conn: c, scope: s, method: method}, nil
}

// clientScope returns the scope that replies of a call are to live in, or nil.
func clientScope(ctx context.Context) *scope.Scope {
	s := scope.From(ctx)
	if s == nil || s.Mode() == scope.Heap || s.Ended() {
		return nil
	}
	if grpc.EnableTracing {
		s.Retain() // x/net/trace prints messages whenever somebody looks
	}
	return s
}

func newReplyIn(s *scope.Scope, method string) *incoming {
	in := newIncoming(method, s)
	in.Arena = s.NewArena()
	return in
}

// handOver makes the arena of a reply that was received without an error the scope's. In every other case
// it is the garbage collector's, and also when gRPC is still at it.
func (in *incoming) handOver(s *scope.Scope, err error) {
	if in.Close() && (err == nil || err == io.EOF) { // at its end a stream has received nothing
		s.Adopt(in.Arena)
	} else {
		s.AbandonArena(in.Arena)
	}
}

// clientStream is a stream whose received messages live in arenas.
type clientStream struct {
	grpc.ClientStream
	conn   *Conn
	scope  *scope.Scope
	method string
	last   *incoming // of the goroutine that receives
}

// SendMsg encodes with Harena's tables.
func (s *clientStream) SendMsg(message any) error {
	out := outgoing{size: &s.conn.size}
	out.put(message)
	defer out.remove(message)
	return s.ClientStream.SendMsg(message)
}

// RecvMsg decodes into an arena.
func (s *clientStream) RecvMsg(message any) error {
	if s.conn.options.StreamScope == PerMessage {
		s.drop()
	}
	if s.scope.Ended() {
		return s.ClientStream.RecvMsg(message)
	}
	in := newReplyIn(s.scope, s.method)
	s.last = in
	err := in.receive(s.ClientStream.RecvMsg, message)
	if s.conn.options.StreamScope == PerStream || err != nil {
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
