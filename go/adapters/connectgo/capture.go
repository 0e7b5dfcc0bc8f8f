package connectgo

import (
	"context"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/pb/capture"
	"github.com/harena-project/harena/go/pb/inbound"
)

// CaptureInterceptor returns an interceptor that captures sampled calls of the methods, for
// `harena replay`. A handler without a line of Harena besides this can be captured too:
//
//	feedconnect.NewFeedHandler(impl, connect.WithInterceptors(connectgo.CaptureInterceptor(c, "/feed.Feed/Rank")))
//
// Give it before [WithScopes]. Messages in JSON are captured in protobuf's binary form. A captured call
// has its request and its reply encoded once more; other calls pay for a counter. Unary calls that fail
// or are refused are not captured. The messages of streams are captured as [capture.Stream] says.
//
// It panics when a method's name is not full. Close the capture after the server has stopped.
func CaptureInterceptor(c *capture.Capture, methods ...string) connect.Interceptor {
	return &captureInterceptor{capture.NewTap(c, methods...)}
}

type captureInterceptor struct {
	tap *capture.Tap
}

// WrapUnary captures calls that are served.
func (i *captureInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (response connect.AnyResponse, err error) {
		if request.Spec().IsClient {
			return next(ctx, request)
		}
		_, err = i.tap.Unary(request.Spec().Procedure, request.Any(), func() (any, error) {
			if response, err = next(ctx, request); err != nil || response == nil {
				return nil, err
			}
			return response.Any(), nil
		})
		return response, err
	}
}

// WrapStreamingHandler captures messages of streams.
func (i *captureInterceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		s := i.tap.Stream(conn.Spec().Procedure)
		if s == nil {
			return next(ctx, conn)
		}
		defer s.End()
		return next(ctx, &capturedConn{conn, s})
	}
}

// WrapStreamingClient changes nothing: what is captured is what a server serves.
func (i *captureInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

type capturedConn struct {
	connect.StreamingHandlerConn
	capture *capture.Stream
}

func (c *capturedConn) Receive(message any) error {
	err := c.StreamingHandlerConn.Receive(message)
	// What crosses a limit is left empty here, and refused where the stream's scopes are.
	if err == nil && !inbound.Refused(message) {
		c.capture.Received(message)
	}
	return err
}

func (c *capturedConn) Send(message any) error {
	c.capture.Sending(message)
	return c.StreamingHandlerConn.Send(message)
}
