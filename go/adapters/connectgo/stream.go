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
		sound := false
		defer func() { s.scopes.Close(sound) }()
		defer func() {
			if panicked := recover(); panicked != nil {
				if err = m.panics().Error(panicked, m.pool.Options()); err == nil {
					panic(panicked)
				}
				sound = true
			}
		}()
		err = next(scope.NewContextWith(ctx, &s.scopes), s)
		// An error may hold messages, or come from an interceptor that did not wait for the handler.
		sound = err == nil || err == s.refused
		return err
	}
}

// streamConn is a stream whose messages have scopes.
type streamConn struct {
	connect.StreamingHandlerConn
	method *method
	scopes scope.Stream

	in      *incoming // of the goroutine that receives
	refused error     // what it was told last
	out     outgoing  // of the goroutine that sends
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
	if s.in.Refusal() != nil {
		s.refused = err
	}
	s.scopes.Received(err)
	return err
}

// Send encodes with Harena's tables.
func (s *streamConn) Send(message any) error {
	defer s.scopes.Sent()
	if s.scopes.Encodes() && s.out.put(message) {
		defer s.out.remove(message)
	}
	return s.StreamingHandlerConn.Send(message)
}
