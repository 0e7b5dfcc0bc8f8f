package grpcgo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

var streamScopes = map[string]grpcgo.StreamScope{
	"heap":        grpcgo.StreamHeap,
	"per message": grpcgo.PerMessage,
	"per stream":  grpcgo.PerStream,
}

func TestStreams(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{}, grpcgo.Options{StreamScope: streamScope}, grpc.StatsHandler(&watcher{}))
			for i := range 5 {
				repeat(t, f.client, fmt.Sprint("r", i))
				collect(t, f.client, fmt.Sprint("c", i))
				chat(t, f.client, fmt.Sprint("t", i))
			}
			for _, method := range []string{"Repeat", "Collect", "Chat"} {
				m := f.settled(t, method)
				if streamScope != grpcgo.StreamHeap && (m.ScopesRetained != 0 || m.Uncovered != 0) {
					t.Errorf("%s: memory is not recycled: %+v", method, m)
				}
			}
		})
	}
}

func repeat(t testing.TB, client testpb.EchoClient, text string) {
	t.Helper()
	in := echotest.New(text)
	stream, err := client.Repeat(testContext(t), in)
	if err != nil {
		t.Fatal(err)
	}
	echotest.Repeat(t, stream, in)
}

func collect(t testing.TB, client testpb.EchoClient, text string) {
	t.Helper()
	stream, err := client.Collect(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	echotest.Collect(t, stream, text)
}

func chat(t testing.TB, client testpb.EchoClient, text string) {
	t.Helper()
	stream, err := client.Chat(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	echotest.Chat(t, stream, text)
}

// A long stream takes the memory of one message with PerMessage, and of all with PerStream.
func TestMemoryOfALongStream(t *testing.T) {
	used := map[grpcgo.StreamScope]int64{}
	for _, streamScope := range streamScopes {
		f := start(t, &echo{}, grpcgo.Options{StreamScope: streamScope})
		chat(t, f.client, "long")
		used[streamScope] = f.settled(t, "Chat").BytesUsedMax
	}
	if used[grpcgo.PerStream] < 10*used[grpcgo.PerMessage] || used[grpcgo.PerMessage] == 0 {
		t.Errorf("20 messages: %d bytes per stream, %d per message", used[grpcgo.PerStream], used[grpcgo.PerMessage])
	}
}

func TestRetainInAStream(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{collect: func(stream grpc.ClientStreamingServer[testpb.Note, testpb.Note]) error {
		for {
			in, err := stream.Recv()
			if err != nil {
				return stream.SendAndClose(&testpb.Note{})
			}
			if in.Text[0] == 'k' {
				grpcgo.Retain(stream.Context())
				kept = append(kept, in)
			}
		}
	}}, grpcgo.Options{StreamScope: grpcgo.PerMessage})
	stream, err := f.client.Collect(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		stream.Send(echotest.New(fmt.Sprint("kept", i)))
		stream.Send(echotest.New(fmt.Sprint("dropped", i)))
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Fatal(err)
	}
	if len(kept) != 20 {
		t.Fatalf("kept %d", len(kept))
	}
	for i, in := range kept {
		if !proto.Equal(in, echotest.New(fmt.Sprint("kept", i))) {
			t.Errorf("kept %v", in)
		}
	}
	if m := f.settled(t, "Collect"); m.ScopesRetained != 20 {
		t.Errorf("%d scopes retained, want 20", m.ScopesRetained)
	}
}

func TestStreamReceivesAndSendsFromTwoGoroutines(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{chat: func(stream grpc.BidiStreamingServer[testpb.Note, testpb.Note]) error {
				return echotest.AnswerAtOnce(stream)
			}}, grpcgo.Options{StreamScope: streamScope})
			stream, err := f.client.Chat(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			echotest.AskAtOnce(t, stream)
			f.settled(t, "Chat")
		})
	}
}

func TestStreamOverTheLimit(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{RequestBytesMax: 60_000, StreamScope: grpcgo.PerMessage})
	big := &testpb.Note{Blob: make([]byte, 70_000)}
	half := &testpb.Note{Blob: make([]byte, 20_000)}

	stream, err := f.client.Chat(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 { // each message is bounded alone
		if err := stream.Send(half); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	stream.Send(big)
	stream.CloseSend()
	// The echo takes the error of Recv for the end of the stream.
	if _, err = stream.Recv(); err != io.EOF {
		t.Errorf("after a message over the limit: %v", err)
	}
	if m := f.settled(t, "Chat"); m.ScopesRefused != 1 {
		t.Errorf("a refused message counts as %+v", m)
	}

	collecting := start(t, &echo{collect: func(stream grpc.ClientStreamingServer[testpb.Note, testpb.Note]) error {
		for {
			if _, err := stream.Recv(); err != nil {
				return err
			}
		}
	}}, grpcgo.Options{RequestBytesMax: 60_000, StreamScope: grpcgo.PerStream})
	all, err := collecting.client.Collect(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // together they are over the limit
		all.Send(half)
	}
	_, err = all.CloseAndRecv()
	wantCode(t, err, codes.ResourceExhausted, testpb.Echo_Collect_FullMethodName, "RequestBytesMax is 60000 bytes")
	collecting.settled(t, "Collect")
}

func TestStreamHandlerOverTheLimit(t *testing.T) {
	f := start(t, &echo{repeat: func(_ *testpb.Note, stream grpc.ServerStreamingServer[testpb.Note]) error {
		arena.MakeSlice[byte](scope.From(stream.Context()).Arena(), 200_000, 200_000)
		return nil
	}}, grpcgo.Options{RequestBytesMax: 100_000, StreamScope: grpcgo.PerMessage})
	stream, err := f.client.Repeat(testContext(t), echotest.New("greedy"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	wantCode(t, err, codes.ResourceExhausted, testpb.Echo_Repeat_FullMethodName, "200000 more were wanted")
	if m := f.settled(t, "Repeat"); m.ScopesRefused != 1 || m.ScopesRetained != 2 { // received and made
		t.Errorf("a refusal counts as %+v", m)
	}
}

func TestStreamErrorsPanicsAndCancellation(t *testing.T) {
	waiting := make(chan struct{})
	recovering := grpc.StreamInterceptor(
		func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = status.Errorf(codes.Internal, "recovered %v", p)
				}
			}()
			return handler(srv, stream)
		})
	f := start(t, &echo{chat: func(stream grpc.BidiStreamingServer[testpb.Note, testpb.Note]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		switch in.Text {
		case "panic":
			panic("handler's own")
		case "error":
			return lazyError{in}
		}
		close(waiting)
		<-stream.Context().Done()
		return stream.Context().Err()
	}}, grpcgo.Options{StreamScope: grpcgo.PerMessage}, recovering)

	for text, want := range map[string]codes.Code{"panic": codes.Internal, "error": codes.Unknown, "wait": codes.Canceled} {
		ctx, cancel := context.WithCancel(testContext(t))
		stream, err := f.client.Chat(ctx)
		if err != nil {
			t.Fatal(err)
		}
		in := echotest.New(text)
		if err := stream.Send(in); err != nil {
			t.Fatal(err)
		}
		if text == "wait" {
			<-waiting
			cancel()
		}
		_, err = stream.Recv()
		wantCode(t, err, want)
		cancel()
	}
	if m := f.settled(t, "Chat"); m.ScopesRetained != 3 {
		t.Errorf("three calls that fail count as %+v", m)
	}
}

func TestPreparedMessages(t *testing.T) {
	f := start(t, &echo{repeat: func(in *testpb.Note, stream grpc.ServerStreamingServer[testpb.Note]) error {
		var prepared grpc.PreparedMsg
		out := echotest.Shout(scope.From(stream.Context()).Arena(), in)
		return errors.Join(prepared.Encode(stream, out), stream.SendMsg(&prepared))
	}}, grpcgo.Options{StreamScope: grpcgo.PerMessage})
	in := echotest.New("prepared")
	stream, err := f.client.Repeat(testContext(t), in)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := stream.Recv(); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
		t.Errorf("%v, %v", out, err)
	}
	stream.Recv()
	f.settled(t, "Repeat")
}
