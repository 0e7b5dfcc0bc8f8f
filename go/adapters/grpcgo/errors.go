package grpcgo

import (
	"context"
	"errors"
	"reflect"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
)

// What a client sees of a limit: the code RESOURCE_EXHAUSTED, the method, the limit and its value,
// and what more was wanted.

func refusedWire(method string, bytesMax, wireBytes int64) error {
	return status.Errorf(codes.ResourceExhausted,
		"harena/grpcgo: %s: RequestBytesMax is %d bytes, and the request alone has %d on the wire",
		method, bytesMax, wireBytes)
}

func refusedDecoding(method string, bytesMax, wireBytes int64, limit *pb.LimitError) error {
	if limit.Limit == "DepthMax" {
		return status.Errorf(codes.ResourceExhausted,
			"harena/grpcgo: %s: DepthMax is %d levels, and the request nests deeper", method, limit.Max)
	}
	return status.Errorf(codes.ResourceExhausted,
		"harena/grpcgo: %s: RequestBytesMax is %d bytes; %d on the wire and at least %d to decode them were wanted",
		method, bytesMax, wireBytes, limit.Wanted)
}

func refusedInHandler(method string, bytesMax int64, limit *arena.LimitError) error {
	return status.Errorf(codes.ResourceExhausted,
		"harena/grpcgo: %s: RequestBytesMax is %d bytes, %d of them for the wire; %d were taken from the arena and %d more were wanted",
		method, bytesMax, bytesMax-limit.BytesMax, limit.BytesTaken, limit.BytesWanted)
}

// errLate is for interceptors that call the handler when they have returned already: the request may
// be gone.
var errLate = status.Error(codes.Internal,
	"harena/grpcgo: an interceptor called the handler after it had returned; make it wait, or use mode heap")

func asLimit(err error) *pb.LimitError {
	var limit *pb.LimitError
	if errors.As(err, &limit) {
		return limit
	}
	return nil
}

// asArenaLimit returns the refusal that a panic of an arena's allocation carries.
func asArenaLimit(panicked any) *arena.LimitError {
	if err, ok := panicked.(error); ok {
		var limit *arena.LimitError
		if errors.As(err, &limit) {
			return limit
		}
	}
	return nil
}

var (
	statusErrorType = reflect.TypeOf(status.Error(codes.Unknown, ""))
	plainErrorType  = reflect.TypeOf(errors.New(""))
)

// selfContained reports whether an error surely holds no message. Others may read the request when
// gRPC asks for their text, after the RPC.
func selfContained(err error) bool {
	switch reflect.TypeOf(err) {
	case statusErrorType, plainErrorType:
		return true
	}
	return err == context.Canceled || err == context.DeadlineExceeded
}
