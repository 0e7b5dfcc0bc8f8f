package grpcgo

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/scope"
)

// unaryHandler is the type of grpc.MethodDesc.Handler.
type unaryHandler = func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error)

// call is one unary RPC on a scope.
type call struct {
	method *method
	scope  scope.Scope
	ctx    scope.Context
	in     incoming
	out    outgoing
	dec    func(any) error // gRPC's

	handlers atomic.Int32 // that run inside interceptors; negative when no more may begin
	settled  bool         // the scope has ended or has another owner
}

const noMoreHandlers = -1 << 30

// unary returns the handler that gRPC calls in place of inner.
func (m *method) unary(inner unaryHandler) unaryHandler {
	return func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		c := &call{method: m, dec: dec}
		m.pool.Start(&c.scope)
		c.ctx = scope.Context{Context: ctx, Scope: &c.scope}
		if c.scope.Mode() == scope.Heap {
			defer c.scope.Abandon() // gRPC has yet to read the reply
			return inner(srv, &c.ctx, dec, interceptor)
		}
		return c.run(inner, srv, interceptor)
	}
}

func (c *call) run(inner unaryHandler, srv any, interceptor grpc.UnaryServerInterceptor) (out any, err error) {
	if grpc.EnableTracing {
		c.scope.Retain() // x/net/trace prints request and reply whenever somebody looks
	}
	c.in.Init(c.method.name, &c.scope)

	defer c.recoverLimit(&err)
	if interceptor != nil {
		interceptor = c.guard(interceptor)
	}
	out, err = inner(srv, &c.ctx, c.decode, interceptor)
	c.settle(out, err)
	return out, err
}

// decode is what the generated code calls to receive its request.
func (c *call) decode(message any) error {
	err := c.in.receive(c.dec, message)
	c.method.count(&c.in, err)
	return err
}

// settle ends the scope, or hands it to the reply.
func (c *call) settle(out any, err error) {
	c.settled = true
	_, isMessage := out.(proto.Message)
	switch {
	case !c.handlers.CompareAndSwap(0, noMoreHandlers):
		c.scope.Abandon() // an interceptor did not wait for the handler
	case err != nil && selfContained(err):
		c.scope.End()
	case err == nil && c.in.Decoded() && isMessage && handoff.Key(out) != nil:
		c.out.size, c.out.scope = &c.method.replySize, &c.scope
		c.out.watched = c.method.service.replyWatched.Load()
		c.out.put(out)
	default:
		c.scope.Abandon() // nobody tells when the reply is encoded, or the error read
	}
}

// guard makes a limit that the handler crosses an error before interceptors see it: those that turn
// panics into errors would hide which it was.
func (c *call) guard(interceptor grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return interceptor(ctx, req, info, func(ctx context.Context, req any) (out any, err error) {
			if c.handlers.Add(1) <= 0 {
				return nil, errLate
			}
			defer c.handlers.Add(-1)
			defer c.method.panics().Recover(c.in.Limits, &err)
			return handler(ctx, req)
		})
	}
}

// recoverLimit ends a scope whose handler panicked. It is to be deferred.
func (c *call) recoverLimit(err *error) {
	if c.settled {
		return
	}
	c.settled = true
	// Nil stands for runtime.Goexit, which goes on by itself.
	if panicked := recover(); panicked != nil {
		if *err = c.method.panics().Error(panicked, c.in.Limits); *err == nil {
			c.scope.Abandon() // others may still hold what the panic tore them from
			panic(panicked)
		}
		c.settle(nil, *err)
		return
	}
	c.scope.Abandon()
}

// count keeps the method's statistics of a message that was received.
func (m *method) count(in *incoming, err error) {
	if r := in.Refusal(); r != nil {
		m.pool.Refuse(r.Limit)
	} else if err == nil && !in.Decoded() {
		m.pool.CountUncovered()
	}
}
