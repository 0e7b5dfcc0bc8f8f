package connectgo

import (
	"errors"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/pb/inbound"
)

// refused returns what a client sees of a limit: the code resource_exhausted, the method, the limit
// and its value, and what more was wanted. Without a refusal it returns nil.
func refused(r *inbound.Refusal) error {
	if r == nil {
		return nil
	}
	return connect.NewError(connect.CodeResourceExhausted, errors.New("harena/connectgo: "+r.Error()))
}

// panics knows the panics of the method's handlers that come from a scope's limit.
func (m *method) panics() inbound.Panics {
	return inbound.Panics{Method: m.name, Pool: m.pool, Refused: refused}
}
