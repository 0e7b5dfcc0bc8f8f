package soak

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"trpc.group/trpc-go/trpc-go/errs"

	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/trpcdemo"
)

// Outcome is what became of a call, whatever the framework.
type Outcome string

// The values of Outcome.
const (
	OK        Outcome = "ok"
	Exhausted Outcome = "exhausted" // a limit refused it
	Malformed Outcome = "malformed" // it was no message
	Cancelled Outcome = "cancelled" // by the caller
	Late      Outcome = "late"      // the caller's deadline has passed
	Broken    Outcome = "broken"    // the connection ended
	CutShort  Outcome = "cut short" // the reply ended in its middle
	Wrong     Outcome = "wrong"     // a reply, but another than it should be
	Other     Outcome = "other"
)

// Framework is how to talk to a server and what its errors mean.
type Framework struct {
	// Dial returns what calls the server on the loopback port, and what ends that.
	Dial func(port int) (load.Caller, func(), error)
	// Outcome is of an error that a call returned.
	Outcome func(error) Outcome
	// TooDeep is how a server may refuse a request that nests too deeply.
	TooDeep []Outcome
}

// Frameworks returns those that there are by the protocol's name: servers of gRPC C++, grpc-go and
// connect-go all speak grpc, those of trpc-go and tRPC-Cpp trpc.
func Frameworks() map[string]Framework {
	return map[string]Framework{
		"grpc": {Dial: dialGRPC, Outcome: outcomeGRPC, TooDeep: []Outcome{Exhausted}},
		"trpc": {Dial: dialTRPC, Outcome: outcomeTRPC, TooDeep: []Outcome{Exhausted, Malformed}},
	}
}

func dialGRPC(port int) (load.Caller, func(), error) {
	client, err := load.NewGRPC(port)
	if err != nil {
		return nil, nil, err
	}
	return load.GRPC(client), func() { _ = client.Close() }, nil
}

// trpc-go's connections belong to a pool of the process's.
func dialTRPC(port int) (load.Caller, func(), error) {
	caller, err := trpcdemo.Dial(port)
	return caller, func() {}, err
}

func outcomeGRPC(err error) Outcome {
	if errors.Is(err, load.ErrReply) {
		return Wrong
	}
	switch status.Code(err) {
	case codes.OK:
		return OK
	case codes.ResourceExhausted:
		return Exhausted
	case codes.Internal, codes.InvalidArgument: // grpc-go; connect-go and gRPC C++
		if status.Convert(err).Message() == io.ErrUnexpectedEOF.Error() {
			return CutShort
		}
		return Malformed
	case codes.Canceled:
		return Cancelled
	case codes.DeadlineExceeded:
		return Late
	case codes.Unavailable:
		return Broken
	}
	return Other
}

func outcomeTRPC(err error) Outcome {
	if errors.Is(err, load.ErrReply) {
		return Wrong
	}
	if err == nil {
		return OK
	}
	switch errs.Code(err) {
	case errs.RetServerOverload, errs.RetServerThrottled: // trpc-go, tRPC-Cpp
		return Exhausted
	case errs.RetServerDecodeFail:
		return Malformed
	case errs.RetClientCanceled:
		return Cancelled
	case errs.RetClientTimeout, errs.RetClientFullLinkTimeout, errs.RetServerTimeout, errs.RetServerFullLinkTimeout:
		return Late
	case errs.RetClientConnectFail:
		// Connecting is part of a call.
		switch text := err.Error(); {
		case strings.Contains(text, "i/o timeout"), strings.Contains(text, context.DeadlineExceeded.Error()):
			return Late
		case strings.Contains(text, context.Canceled.Error()):
			return Cancelled
		}
		return Broken
	case errs.RetClientNetErr, errs.RetClientReadFrameErr:
		return Broken
	}
	return Other
}
