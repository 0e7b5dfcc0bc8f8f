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

func processRefusal(method string, over *arena.LimitError, wanted int64) *Refusal {
	return &Refusal{scope.ProcessBytesMax, fmt.Sprintf("%s: ProcessBytesMax is %d bytes: %d are in use and %d more were wanted",
		method, over.BytesMax, over.BytesTaken, wanted)}
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
	if limit.Limit == scope.ProcessBytesMax {
		return processRefusal(method, &arena.LimitError{BytesMax: limit.Max, BytesTaken: limit.Taken}, limit.Wanted)
	}
	return &Refusal{"RequestBytesMax", fmt.Sprintf(
		"%s: RequestBytesMax is %d bytes; %d on the wire and at least %d to decode them were wanted",
		method, bytesMax, wireBytes, limit.Wanted)}
}

// OfPanic returns the refusal that a handler's panic stands for, when the panic comes from an
// allocation over the scope's limit. For other panics it returns nil: an arena of the handler's own
// may have a limit too.
func OfPanic(method string, limits scope.Options, panicked any) *Refusal {
	err, _ := panicked.(error)
	var limit *arena.LimitError
	if !errors.As(err, &limit) {
		return nil
	}
	if limit.Budget == scope.ProcessBytesMax {
		return processRefusal(method, limit, limit.BytesWanted)
	}
	if limits.RequestBytesMax == 0 {
		return nil
	}
	return &Refusal{"RequestBytesMax", fmt.Sprintf(
		"%s: RequestBytesMax is %d bytes, %d of them for the wire; %d were taken from the arena and %d more were wanted",
		method, limits.RequestBytesMax, limits.RequestBytesMax-limit.BytesMax, limit.BytesTaken, limit.BytesWanted)}
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

// Recover turns the panic of an allocation over the limit into an error, and lets other panics pass. It
// is to be deferred.
func (p Panics) Recover(limits scope.Options, err *error) {
	if panicked := recover(); panicked != nil {
		if *err = p.Error(panicked, limits); *err == nil {
			panic(panicked)
		}
	}
}
