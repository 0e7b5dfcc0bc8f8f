package soak_test

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"trpc.group/trpc-go/trpc-go/errs"

	"github.com/harena-project/harena/bench/go/soak"
)

func TestOutcomesOfGRPC(t *testing.T) {
	for want, err := range map[soak.Outcome]error{
		soak.OK:        nil,
		soak.Malformed: status.Error(codes.Internal, "grpc: error unmarshalling request: unexpected EOF"),
		soak.CutShort:  status.Error(codes.Internal, "unexpected EOF"),
		soak.Late:      status.Error(codes.DeadlineExceeded, "unexpected EOF"),
		soak.Exhausted: status.Error(codes.ResourceExhausted, "request_bytes_max"),
		soak.Broken:    status.Error(codes.Unavailable, "connection reset"),
		soak.Other:     errors.New("no status"),
	} {
		if got := soak.Frameworks()["grpc"].Outcome(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}

// The client's pool of connections gives the caller's reasons its own code.
func TestOutcomesOfTRPC(t *testing.T) {
	for want, err := range map[soak.Outcome]error{
		soak.OK:        nil,
		soak.Exhausted: errs.New(errs.RetServerOverload, "request_bytes_max"),
		soak.Late:      errs.New(errs.RetClientConnectFail, "tcp client transport connection pool, caused by context deadline exceeded"),
		soak.Cancelled: errs.New(errs.RetClientConnectFail, "tcp client transport connection pool, caused by context canceled"),
		soak.Broken:    errs.New(errs.RetClientConnectFail, "connection refused"),
	} {
		if got := soak.Frameworks()["trpc"].Outcome(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}
