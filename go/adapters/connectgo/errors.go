package connectgo

import (
	"errors"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/pb/inbound"
	"github.com/harena-project/harena/go/scope"
)

// refused returns what a client sees of a limit: the code resource_exhausted, the method, the limit
// and its value, and what more was wanted. Without a refusal it returns nil.
func refused(r *inbound.Refusal) error {
	if r == nil {
		return nil
	}
	return connect.NewError(connect.CodeResourceExhausted, errors.New("harena/connectgo: "+r.Error()))
}

// limitError returns what a client is told of a panic that comes from the scope's limit, and nil for
// other panics.
func (m *method) limitError(panicked any, limits scope.Options) error {
	r := inbound.OfPanic(m.name, limits, panicked)
	if r != nil {
		m.pool.Refuse(r.Limit)
	}
	return refused(r)
}
