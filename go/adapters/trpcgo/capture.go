package trpcgo

import (
	"context"

	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/pb/capture"
)

// CaptureFilter returns a filter that captures sampled unary calls of the methods, for `harena replay`.
// A server without a line of Harena besides this can be captured too:
//
//	trpc.NewServer(
//		server.WithFilter(trpcgo.CaptureFilter(c, "/feed.Feed/Rank")),
//		server.WithStreamFilter(trpcgo.CaptureStreamFilter(c, "/feed.Feed/Watch")))
//
// Or give it a name by filter.Register, and that name a place in trpc_go.yaml. Messages in JSON are
// captured in protobuf's binary form. A captured call has its request and its reply encoded once more;
// other calls pay for a counter. Calls that fail or are refused are not captured.
//
// It panics when a method's name is not full. Close the capture after the server has stopped.
func CaptureFilter(c *capture.Capture, methods ...string) filter.ServerFilter {
	tap := capture.NewTap(c, methods...)
	return func(ctx context.Context, request any, next filter.ServerHandleFunc) (any, error) {
		return tap.Unary(codec.Message(ctx).ServerRPCName(), request, func() (any, error) { return next(ctx, request) })
	}
}

// CaptureStreamFilter returns the same for streams, whose messages are captured as [capture.Stream] says.
func CaptureStreamFilter(c *capture.Capture, methods ...string) server.StreamFilter {
	tap := capture.NewTap(c, methods...)
	return func(stream server.Stream, info *server.StreamServerInfo, handler server.StreamHandler) error {
		s := tap.Stream(info.FullMethod)
		if s == nil {
			return handler(stream)
		}
		defer s.End()
		return handler(&capturedStream{stream, s})
	}
}

type capturedStream struct {
	server.Stream
	capture *capture.Stream
}

// RecvMsg sees the stand-in where the stream has scopes.
func (s *capturedStream) RecvMsg(message any) error {
	err := s.Stream.RecvMsg(message)
	if err != nil {
		return err
	}
	if in, ours := message.(*incoming); !ours {
		s.capture.Received(message)
	} else if in.Refusal() == nil {
		s.capture.Received(in.Message.Interface())
	}
	return nil
}

// SendMsg likewise.
func (s *capturedStream) SendMsg(message any) error {
	if out, ours := message.(*outgoing); ours {
		s.capture.Sending(out.Message.Interface())
	} else {
		s.capture.Sending(message)
	}
	return s.Stream.SendMsg(message)
}
