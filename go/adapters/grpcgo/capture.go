package grpcgo

import (
	"context"

	"google.golang.org/grpc"

	"github.com/harena-project/harena/go/pb/capture"
	"github.com/harena-project/harena/go/pb/inbound"
)

// CaptureUnaryInterceptor returns an interceptor that captures sampled unary calls of the methods, for
// `harena replay`. A server without a line of Harena besides this can be captured too:
//
//	grpc.NewServer(
//		grpc.ChainUnaryInterceptor(grpcgo.CaptureUnaryInterceptor(c, "/feed.Feed/Rank")),
//		grpc.ChainStreamInterceptor(grpcgo.CaptureStreamInterceptor(c, "/feed.Feed/Watch")))
//
// A captured call has its request and its reply encoded once more; other calls pay for a counter. Calls
// that fail or are refused are not captured.
//
// It panics when a method's name is not full. Close the capture after the server has stopped.
func CaptureUnaryInterceptor(c *capture.Capture, methods ...string) grpc.UnaryServerInterceptor {
	tap := capture.NewTap(c, methods...)
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return tap.Unary(info.FullMethod, request, func() (any, error) { return handler(ctx, request) })
	}
}

// CaptureStreamInterceptor returns the same for streams, whose messages are captured as [capture.Stream]
// says.
func CaptureStreamInterceptor(c *capture.Capture, methods ...string) grpc.StreamServerInterceptor {
	tap := capture.NewTap(c, methods...)
	return func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		s := tap.Stream(info.FullMethod)
		if s == nil {
			return handler(service, stream)
		}
		defer s.End()
		return handler(service, &capturedStream{stream, s})
	}
}

type capturedStream struct {
	grpc.ServerStream
	capture *capture.Stream
}

func (s *capturedStream) RecvMsg(message any) error {
	err := s.ServerStream.RecvMsg(message)
	// What crosses a limit is left empty here, and refused where the stream's scopes are.
	if err == nil && !inbound.Refused(message) {
		s.capture.Received(message)
	}
	return err
}

func (s *capturedStream) SendMsg(message any) error {
	s.capture.Sending(message)
	return s.ServerStream.SendMsg(message)
}
