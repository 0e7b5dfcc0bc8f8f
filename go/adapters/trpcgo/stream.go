package trpcgo

import (
	"context"

	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/scope"
)

// stream returns the handler that trpc-go calls in place of inner.
func (m *method) stream(inner server.StreamHandlerWapper, known settings) server.StreamHandlerWapper {
	return func(impl any, ts server.Stream) (err error) {
		s := &serverStream{Stream: ts, method: m, settings: known, msg: codec.Message(ts.Context())}
		m.pool.StartStream(&s.scopes, m.streamScope, false)
		s.ctx = scope.NewContextWith(ts.Context(), &s.scopes)
		succeeded := false
		defer func() { s.scopes.Close(succeeded) }()
		defer m.panics().Recover(m.pool.Options(), &err)
		err = inner(impl, s)
		err = m.panics().Returned(err, s.scopes.Err(), m.pool.Options())
		succeeded = err == nil
		return err
	}
}

// serverStream is a stream whose messages have scopes.
type serverStream struct {
	server.Stream
	ctx      context.Context
	method   *method
	settings settings
	msg      codec.Msg
	scopes   scope.Stream

	in *incoming // of the goroutine that receives
}

// Context carries the scope for what the handler makes.
func (s *serverStream) Context() context.Context { return s.ctx }

// RecvMsg decodes into the scope of received messages.
func (s *serverStream) RecvMsg(message any) error {
	next, fresh := s.scopes.Receiving()
	if next == nil {
		err := s.Stream.RecvMsg(message)
		s.scopes.Received(err)
		return err
	}
	if fresh {
		s.in = new(incoming)
		s.in.Init(s.method.name, next)
	}
	s.in.Expect()
	err := s.Stream.RecvMsg(s.in.standInFor(message, s.settings, s.msg))
	if err == nil {
		err = refused(s.in.Refusal())
	}
	s.scopes.Received(err)
	s.method.count(s.in, message, err)
	return err
}

// SendMsg encodes with Harena's tables.
func (s *serverStream) SendMsg(message any) error {
	if real, ok := valid(message); ok && s.scopes.Encodes() && s.settings.covered(s.msg) {
		message = &outgoing{Message: real.ProtoReflect()}
	}
	err := s.Stream.SendMsg(message)
	s.scopes.Sent(err)
	return err
}
