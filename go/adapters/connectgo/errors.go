package connectgo

import (
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/scope"
)

// What a client sees of a limit: the code resource_exhausted, the method, the limit and its value,
// and what more was wanted.

func refusedWire(method string, bytesMax, wireBytes int64) error {
	return refused("%s: RequestBytesMax is %d bytes, and the request alone has %d on the wire",
		method, bytesMax, wireBytes)
}

func refusedDecoding(method string, bytesMax, wireBytes int64, limit *pb.LimitError) error {
	if limit.Limit == "DepthMax" {
		return refused("%s: DepthMax is %d levels, and the request nests deeper", method, limit.Max)
	}
	return refused("%s: RequestBytesMax is %d bytes; %d on the wire and at least %d to decode them were wanted",
		method, bytesMax, wireBytes, limit.Wanted)
}

func refusedInHandler(method string, bytesMax int64, limit *arena.LimitError) error {
	return refused("%s: RequestBytesMax is %d bytes, %d of them for the wire; %d were taken from the arena and %d more were wanted",
		method, bytesMax, bytesMax-limit.BytesMax, limit.BytesTaken, limit.BytesWanted)
}

func refused(format string, args ...any) error {
	return connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("harena/connectgo: "+format, args...))
}

// limitError returns what a client is told of a panic that comes from the scope's limit, and nil for
// other panics: an arena of the handler's own may have a limit too.
func (m *method) limitError(panicked any, limits scope.Options) error {
	err, _ := panicked.(error)
	var limit *arena.LimitError
	if !errors.As(err, &limit) || limits.RequestBytesMax == 0 {
		return nil
	}
	m.pool.Refuse()
	return refusedInHandler(m.name, limits.RequestBytesMax, limit)
}
