package inbound

import (
	"errors"
	"fmt"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/scope"
)

// Refusal is an RPC that crossed one of its limits. Its text names the method, the limit and its
// value, and what more was wanted.
type Refusal struct {
	Limit string // one of package scope's names: "RequestBytesMax" and so on
	text  string
}

// Error returns the text, to which an adapter adds its name.
func (r *Refusal) Error() string { return r.text }

func wireRefusal(method string, bytesMax, wireBytes int64) *Refusal {
	return &Refusal{"RequestBytesMax", fmt.Sprintf(
		"%s: RequestBytesMax is %d bytes, and the request alone has %d on the wire", method, bytesMax, wireBytes)}
}

// budgetRefusal is for the process's budget, and for what the arenas of one scope share.
func budgetRefusal(method string, over *arena.LimitError, wanted int64) *Refusal {
	return &Refusal{over.Budget, fmt.Sprintf("%s: %s is %d bytes: %d are in use and %d more were wanted",
		method, over.Budget, over.BytesMax, over.BytesTaken, wanted)}
}

func ratioRefusal(method string, limits scope.Options, wireBytes int64, limit *pb.LimitError) *Refusal {
	return &Refusal{scope.DecodedRatioMax, fmt.Sprintf(
		"%s: DecodedRatioMax is %v: %d bytes on the wire may take %d bytes (DecodedFloorBytes), and at least %d were wanted",
		method, limits.DecodedRatioMax, wireBytes, limits.DecodedBytesMax(wireBytes), wireBytes+limit.Wanted)}
}

func decodingRefusal(method string, bytesMax, wireBytes int64, limit *pb.LimitError) *Refusal {
	if limit.Limit == "DepthMax" {
		return &Refusal{"DepthMax", fmt.Sprintf(
			"%s: DepthMax is %d levels, and the request nests deeper", method, limit.Max)}
	}
	if limit.Limit == scope.ProcessBytesMax || limit.Limit == scope.RequestBytesMax {
		over := &arena.LimitError{Budget: limit.Limit, BytesMax: limit.Max, BytesTaken: limit.Taken}
		return budgetRefusal(method, over, limit.Wanted)
	}
	return &Refusal{"RequestBytesMax", fmt.Sprintf(
		"%s: RequestBytesMax is %d bytes; %d on the wire and at least %d to decode them were wanted",
		method, bytesMax, wireBytes, limit.Wanted)}
}

// OfPanic returns the refusal that a handler's panic stands for, or the error of its scope, when that
// comes from an allocation over the scope's limit. For other panics it returns nil: an arena of the handler's own
// may have a limit too.
func OfPanic(method string, limits scope.Options, panicked any) *Refusal {
	err, _ := panicked.(error)
	var limit *arena.LimitError
	if !errors.As(err, &limit) {
		return nil
	}
	if limit.Budget == scope.ProcessBytesMax || limit.Budget == scope.RequestBytesMax {
		return budgetRefusal(method, limit, limit.BytesWanted)
	}
	if limits.RequestBytesMax == 0 {
		return nil
	}
	ofWire := ""
	if wireBytes := limits.RequestBytesMax - limit.BytesMax; wireBytes > 0 {
		ofWire = fmt.Sprintf(", %d of them for the wire", wireBytes)
	}
	return &Refusal{"RequestBytesMax", fmt.Sprintf(
		"%s: RequestBytesMax is %d bytes%s; %d were taken from the arena and %d more were wanted",
		method, limits.RequestBytesMax, ofWire, limit.BytesTaken, limit.BytesWanted)}
}

// Panics are those of one method's handlers.
type Panics struct {
	Method  string
	Pool    *scope.Pool          // counts the refusals
	Refused func(*Refusal) error // makes a framework's error; of nil it makes nil
}

// Error returns what a client is told of a panic that comes from the scope's limit, and nil for other
// panics.
func (p Panics) Error(panicked any, limits scope.Options) error {
	r := OfPanic(p.Method, limits, panicked)
	if r != nil {
		p.Pool.Refuse(r.Limit)
	}
	return p.Refused(r)
}

// Returned returns the error of a handler that returned err. Where a goroutine of its has crossed the
// limit, of which crossed tells, the call is refused.
func (p Panics) Returned(err, crossed error, limits scope.Options) error {
	if refused := p.Error(crossed, limits); refused != nil {
		return refused
	}
	return err
}

// Recover turns the panic of an allocation over the limit into an error, and lets other panics pass. It
// is to be deferred.
func (p Panics) Recover(limits scope.Options, err *error) {
	if panicked := recover(); panicked != nil {
		if *err = p.Error(panicked, limits); *err == nil {
			panic(panicked)
		}
	}
}
