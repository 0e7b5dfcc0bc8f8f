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

	// Handlers inside interceptors that have not returned, or not without an error; negative when no
	// more may begin.
	unfinished atomic.Int32
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

	replyOwns := false
	defer c.method.panics().Recover(c.in.Limits, &err)
	defer func() {
		// Memory is recycled only after a normal return without an error. In every other case it is left
		// to the garbage collector: goroutines of the handler may still use it.
		if !replyOwns {
			c.scope.Abandon()
		}
	}()
	if interceptor != nil {
		interceptor = c.guard(interceptor)
	}
	out, err = inner(srv, &c.ctx, c.decode, interceptor)
	// Of a handler that failed inside of interceptors guard has told them.
	finished := c.unfinished.CompareAndSwap(0, noMoreHandlers)
	if finished {
		err = c.method.panics().Returned(err, c.scope.Err(), c.in.Limits)
	}
	replyOwns = finished && err == nil && c.handOver(out)
	return out, err
}

// decode is what the generated code calls to receive its request.
func (c *call) decode(message any) error {
	err := c.in.receive(c.dec, message)
	c.method.count(&c.in, err)
	return err
}

// handOver makes the reply the scope's owner, if it will be seen when the reply is encoded.
func (c *call) handOver(out any) bool {
	_, isMessage := out.(proto.Message)
	if !isMessage || !c.in.Decoded() || handoff.Key(out) == nil {
		return false
	}
	c.out.size, c.out.scope = &c.method.replySize, &c.scope
	c.out.watched = c.method.service.replyWatched.Load()
	c.out.put(out)
	return true
}

// guard makes a limit that the handler crosses an error before interceptors see it: those that turn
// panics into errors would hide which it was.
func (c *call) guard(interceptor grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return interceptor(ctx, req, info, func(ctx context.Context, req any) (out any, err error) {
			if c.unfinished.Add(1) <= 0 {
				return nil, errLate
			}
			defer c.method.panics().Recover(c.in.Limits, &err)
			out, err = handler(ctx, req)
			if err = c.method.panics().Returned(err, c.scope.Err(), c.in.Limits); err == nil {
				c.unfinished.Add(-1)
			}
			return out, err
		})
	}
}

// count keeps the method's statistics of a message that was received.
func (m *method) count(in *incoming, err error) {
	if r := in.Refusal(); r != nil {
		m.pool.Refuse(r.Limit)
	} else if err == nil && !in.Decoded() {
		m.pool.CountUncovered()
	}
}
