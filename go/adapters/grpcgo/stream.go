package grpcgo

import (
	"context"

	"google.golang.org/grpc"

	"github.com/harena-project/harena/go/scope"
)

// stream returns the handler that gRPC calls in place of inner.
func (m *method) stream(inner grpc.StreamHandler) grpc.StreamHandler {
	return func(srv any, gs grpc.ServerStream) (err error) {
		s := &serverStream{ServerStream: gs, method: m}
		// x/net/trace prints messages whenever somebody looks.
		m.pool.StartStream(&s.scopes, m.streamScope, grpc.EnableTracing)
		s.ctx = scope.NewContextWith(gs.Context(), &s.scopes)
		succeeded := false
		defer func() { s.scopes.Close(succeeded) }()
		defer m.panics().Recover(m.pool.Options(), &err)
		err = inner(srv, s)
		err = m.panics().Returned(err, s.scopes.Err(), m.pool.Options())
		succeeded = err == nil
		return err
	}
}

// serverStream is a stream whose messages have scopes.
type serverStream struct {
	grpc.ServerStream
	ctx    context.Context
	method *method
	scopes scope.Stream

	in  *incoming // of the goroutine that receives
	out outgoing  // of the goroutine that sends
}

// Context carries the scope for what the handler makes.
func (s *serverStream) Context() context.Context { return s.ctx }

// RecvMsg decodes into the scope of received messages.
func (s *serverStream) RecvMsg(message any) error {
	next, fresh := s.scopes.Receiving()
	if next == nil {
		err := s.ServerStream.RecvMsg(message)
		s.scopes.Received(err)
		return err
	}
	if fresh {
		s.in = newIncoming(s.method.name, next)
	}
	err := s.in.receive(s.ServerStream.RecvMsg, message)
	s.scopes.Received(err)
	s.method.count(s.in, err)
	return err
}

// SendMsg encodes with Harena's tables.
func (s *serverStream) SendMsg(message any) error {
	if s.scopes.Encodes() {
		s.out.size = &s.method.replySize
		s.out.put(message)
		defer s.out.remove(message)
	}
	err := s.ServerStream.SendMsg(message)
	s.scopes.Sent(err)
	return err
}
