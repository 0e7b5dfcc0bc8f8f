package trpcgo

import (
	"trpc.group/trpc-go/trpc-go/errs"

	"github.com/harena-project/harena/go/pb/inbound"
)

// refused returns what a client sees of a limit. Its text names the method, the limit and its value,
// and what more was wanted; the codes are explained in the package's documentation. Without a refusal
// it returns nil.
func refused(r *inbound.Refusal) error {
	return refusedAs(r, errs.RetServerOverload, errs.RetServerDecodeFail)
}

// panics knows the panics of the method's handlers that come from a scope's limit.
func (m *method) panics() inbound.Panics {
	return inbound.Panics{Method: m.name, Pool: m.pool, Refused: refused}
}

// refusedReply is refused for a reply that a client received.
func refusedReply(r *inbound.Refusal) error {
	return refusedAs(r, errs.RetClientOverload, errs.RetClientDecodeFail)
}

func refusedAs[T errs.ErrCode](r *inbound.Refusal, tooLarge, tooDeep T) error {
	if r == nil {
		return nil
	}
	code := tooLarge
	if r.Limit == "DepthMax" {
		code = tooDeep
	}
	return errs.NewFrameError(code, "harena/trpcgo: "+r.Error())
}

// errLate is for filters that call the handler when they have returned already: the request may be
// gone.
var errLate = errs.NewFrameError(errs.RetServerSystemErr,
	"harena/trpcgo: a filter called the handler after it had returned; make it wait, or use mode heap")

// errAssigned is for servers that decode a request before its call, when nothing is known of them.
var errAssigned = errs.NewFrameError(errs.RetServerSystemErr,
	"harena/trpcgo: trpc-go keeps requests in order by their contents; register with trpcgo.Register, or use mode heap")
