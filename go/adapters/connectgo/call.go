package connectgo

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/scope"
)

// call is one unary RPC on a scope. The codec begins it, when the request arrives, and leaves it in
// the table `waiting`, where the interceptor finds it by the request.
type call struct {
	method *method
	scope  scope.Scope
	in     incoming
	out    outgoing
	lost   runtime.Cleanup
}

// waiting is the calls between codec and interceptor, by the request's address. The keys are weak:
// another interceptor may turn a request away before ours sees it, and then the table must not be
// what keeps it.
var waiting struct {
	calls sync.Map // of weak.Pointer[byte] to *call
	count atomic.Int64
}

func (m *method) begin() *call {
	c := &call{method: m}
	m.pool.Start(&c.scope)
	c.in.Init(m.name, &c.scope)
	return c
}

// wait leaves the call for the interceptor.
func (c *call) wait(request any) {
	address := (*byte)(handoff.Key(request))
	key := weak.Make(address)
	c.lost = runtime.AddCleanup(address, abandon, key)
	waiting.count.Add(1)
	waiting.calls.Store(key, c)
}

// claim returns the call of a request, or nil when it did not come through our codec.
func claim(request any) *call {
	address := (*byte)(handoff.Key(request))
	if address == nil || waiting.count.Load() == 0 {
		return nil
	}
	c := takeWaiting(weak.Make(address))
	if c != nil {
		c.lost.Stop()
	}
	return c
}

// abandon ends a call whose request became unreachable before the interceptor saw it.
func abandon(key weak.Pointer[byte]) {
	if c := takeWaiting(key); c != nil {
		c.scope.Abandon()
	}
}

func takeWaiting(key weak.Pointer[byte]) *call {
	found, ok := waiting.calls.LoadAndDelete(key)
	if !ok {
		return nil
	}
	waiting.count.Add(-1)
	return found.(*call)
}

// interceptor is one method's.
type interceptor struct {
	method *method
}

// WrapUnary gives the handler's context the scope.
func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if request.Spec().IsClient {
			return next(ctx, request)
		}
		c := claim(request.Any())
		if c == nil {
			c = i.method.begin()
		}
		if err := c.in.refused(); err != nil {
			c.scope.Abandon()
			return nil, err
		}
		return c.run(ctx, request, next)
	}
}

func (c *call) run(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (response connect.AnyResponse, err error) {
	replyOwns := false
	defer c.method.panics().Recover(c.in.Limits, &err)
	defer func() {
		// Memory is recycled only after a normal return without an error. In every other case it is left
		// to the garbage collector: goroutines of the handler may still use it.
		if !replyOwns {
			c.scope.Abandon()
		}
	}()
	response, err = next(scope.NewContext(ctx, &c.scope), request)
	if err = c.method.panics().Returned(err, c.scope.Err(), c.in.Limits); err != nil {
		return nil, err
	}
	if c.scope.Mode() != scope.Heap {
		c.out.own(ctx, response.Any(), &c.scope)
		replyOwns = true
	}
	return response, nil
}

// WrapStreamingClient changes nothing: clients are not covered.
func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}
