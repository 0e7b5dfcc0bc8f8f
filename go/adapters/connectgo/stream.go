package connectgo

import (
	"context"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/scope"
)

// WrapStreamingHandler gives the stream's messages scopes.
func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	m := i.method
	return func(ctx context.Context, conn connect.StreamingHandlerConn) (err error) {
		s := &streamConn{StreamingHandlerConn: conn, method: m}
		m.pool.StartStream(&s.scopes, m.streamScope, false)
		succeeded := false
		defer func() { s.scopes.Close(succeeded) }()
		defer m.panics().Recover(m.pool.Options(), &err)
		err = next(scope.NewContextWith(ctx, &s.scopes), s)
		err = m.panics().Returned(err, s.scopes.Err(), m.pool.Options())
		succeeded = err == nil
		return err
	}
}

// streamConn is a stream whose messages have scopes.
type streamConn struct {
	connect.StreamingHandlerConn
	method *method
	scopes scope.Stream

	in  *incoming // of the goroutine that receives
	out outgoing  // of the goroutine that sends
}

// Receive decodes into the scope of received messages.
func (s *streamConn) Receive(message any) error {
	next, fresh := s.scopes.Receiving()
	if next == nil {
		err := s.StreamingHandlerConn.Receive(message)
		s.scopes.Received(err)
		return err
	}
	if fresh {
		s.in = newIncoming(s.method.name, next)
	}
	err := s.in.receive(s.StreamingHandlerConn.Receive, message)
	s.scopes.Received(err)
	return err
}

// Send encodes with Harena's tables.
func (s *streamConn) Send(message any) error {
	if s.scopes.Encodes() && s.out.put(message) {
		defer s.out.remove(message)
	}
	err := s.StreamingHandlerConn.Send(message)
	s.scopes.Sent(err)
	return err
}
