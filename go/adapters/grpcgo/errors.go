package grpcgo

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/harena-project/harena/go/pb/inbound"
)

// refused returns what a client sees of a limit: the code RESOURCE_EXHAUSTED, the method, the limit and
// its value, and what more was wanted. Without a refusal it returns nil.
func refused(r *inbound.Refusal) error {
	if r == nil {
		return nil
	}
	return status.Error(codes.ResourceExhausted, "harena/grpcgo: "+r.Error())
}

// panics knows the panics of the method's handlers that come from a scope's limit.
func (m *method) panics() inbound.Panics {
	return inbound.Panics{Method: m.name, Pool: m.pool, Refused: refused}
}

// errLate is for interceptors that call the handler when they have returned already: the request may
// be gone.
var errLate = status.Error(codes.Internal,
	"harena/grpcgo: an interceptor called the handler after it had returned; make it wait, or use mode heap")
