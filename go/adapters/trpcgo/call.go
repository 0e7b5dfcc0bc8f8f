package trpcgo

import (
	"context"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/scope"
)

// unaryHandler is the type of server.Method.Func.
type unaryHandler = func(impl any, ctx context.Context, f server.FilterFunc) (any, error)

// call is one unary RPC on a scope.
type call struct {
	method   *method
	settings settings
	msg      codec.Msg
	filters  server.FilterFunc // trpc-go's: decodes, and returns the filters

	scope scope.Scope
	ctx   scope.Context
	in    incoming
	out   outgoing

	// Handlers inside filters that have not returned, or not without an error; negative when no more
	// may begin.
	unfinished atomic.Int32
}

const noMoreHandlers = -1 << 30

// unary returns the handler that trpc-go calls in place of inner.
func (m *method) unary(inner unaryHandler, known settings) unaryHandler {
	return func(impl any, ctx context.Context, f server.FilterFunc) (any, error) {
		c := &call{method: m, settings: known, msg: codec.Message(ctx), filters: f}
		m.pool.Start(&c.scope)
		c.ctx = scope.Context{Context: ctx, Scope: &c.scope}
		if c.scope.Mode() == scope.Heap {
			defer c.scope.Abandon() // trpc-go has yet to read the reply
			return inner(impl, &c.ctx, f)
		}
		return c.run(inner, impl)
	}
}

func (c *call) run(inner unaryHandler, impl any) (out any, err error) {
	c.in.Init(c.method.name, &c.scope)
	scopeEnds := false
	defer c.method.panics().Recover(c.in.Limits, &err)
	defer func() {
		// Memory is recycled only after a normal return without an error. In every other case it is left
		// to the garbage collector: goroutines of the handler may still use it.
		if !scopeEnds {
			c.scope.Abandon()
		}
	}()
	out, err = inner(impl, &c.ctx, c.decode)
	// Of a handler that failed inside of filters guard has told them.
	finished := c.unfinished.CompareAndSwap(0, noMoreHandlers)
	if finished {
		err = c.method.panics().Returned(err, c.scope.Err(), c.in.Limits)
	}
	if finished && err == nil {
		out, scopeEnds = c.handOver(out)
	}
	return out, err
}

// decode is what the generated code calls to receive its request.
func (c *call) decode(message any) (filter.ServerChain, error) {
	filters, err := c.filters(c.in.standInFor(message, c.settings, c.msg))
	err = c.method.refusedLong(err)
	if err == nil && c.in.self != nil && c.in.self != &c.in {
		err = errAssigned
	}
	if err == nil {
		err = refused(c.in.Refusal())
	}
	c.method.count(&c.in, message, err)
	if err != nil || len(filters) == 0 {
		return nil, err
	}
	return append(filters[:len(filters):len(filters)], c.guard), nil
}

// handOver ends the scope, or makes what trpc-go is to encode its owner, which it returns. It reports
// false where nobody will tell when the reply is encoded.
func (c *call) handOver(out any) (owner any, ends bool) {
	if c.msg.CallType() == codec.SendOnly {
		c.scope.End()
		return out, true
	}
	message, isMessage := valid(out)
	if !isMessage || !c.settings.covered(c.msg) {
		return out, false
	}
	c.out.Message, c.out.scope = message.ProtoReflect(), &c.scope
	if !c.in.Decoded() {
		// Nothing has shown yet that the serializer is the one that it seems to be.
		c.out.lost = c.scope.OnLost()
	}
	return &c.out, true
}

// guard is the innermost filter. It makes a limit that the handler crosses an error before other
// filters see it: those that turn panics into errors would hide which it was.
func (c *call) guard(ctx context.Context, req any, next filter.ServerHandleFunc) (out any, err error) {
	if c.unfinished.Add(1) <= 0 {
		return nil, errLate
	}
	defer c.method.panics().Recover(c.in.Limits, &err)
	out, err = next(ctx, req)
	if err = c.method.panics().Returned(err, c.scope.Err(), c.in.Limits); err == nil {
		c.unfinished.Add(-1)
	}
	return out, err
}

// count keeps the method's statistics of a message that was received.
func (m *method) count(in *incoming, message any, err error) {
	if r := in.Refusal(); r != nil {
		m.pool.Refuse(r.Limit)
	} else if err == nil && !in.Decoded() {
		// trpc-go decodes no message of no bytes.
		if received, ok := message.(proto.Message); !ok || proto.Size(received) > 0 {
			m.pool.CountUncovered()
		}
	}
}
