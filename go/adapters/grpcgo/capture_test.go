package grpcgo_test

import (
	"fmt"
	"reflect"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/capture/capturetest"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func captureOptions(c capturetest.Capturing) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(grpcgo.CaptureUnaryInterceptor(c.Capture, testpb.Echo_Say_FullMethodName, testpb.Echo_Fail_FullMethodName)),
		grpc.ChainStreamInterceptor(grpcgo.CaptureStreamInterceptor(c.Capture,
			testpb.Echo_Repeat_FullMethodName, testpb.Echo_Collect_FullMethodName, testpb.Echo_Chat_FullMethodName)),
	}
}

func TestCapturedCallsAreAsOnTheWire(t *testing.T) {
	for _, mode := range []scope.Mode{scope.Heap, scope.Codec} {
		c := capturetest.New(t)
		f := start(t, &echo{}, grpcgo.Options{Mode: mode}, captureOptions(c)...)
		for i := range 5 {
			say(t, f.client, echotest.New(fmt.Sprint(i)))
		}
		_, err := f.client.Fail(testContext(t), &testpb.Note{Number: int64(codes.NotFound)})
		wantCode(t, err, codes.NotFound)
		f.server.GracefulStop()
		calls := c.Calls(t)
		if len(calls) != 5 || c.Stats().CallsDropped != 1 {
			t.Fatalf("%v: %d calls, %+v", mode, len(calls), c.Stats())
		}
		for i, call := range calls {
			in := echotest.New(fmt.Sprint(i))
			if call.Method != testpb.Echo_Say_FullMethodName || call.Time.IsZero() ||
				!proto.Equal(capturetest.Parsed[testpb.Note](t, call.Request), in) || !proto.Equal(capturetest.Parsed[testpb.Note](t, call.Response), echotest.Shouted(in)) {
				t.Errorf("%v: captured %+v", mode, call)
			}
		}
	}
}

func TestARefusedRequestIsNotCaptured(t *testing.T) {
	c := capturetest.New(t)
	f := start(t, &echo{}, grpcgo.Options{RequestBytesMax: 4000, StreamScope: grpcgo.PerMessage}, captureOptions(c)...)
	large := &testpb.Note{Blob: make([]byte, 10_000)}
	_, err := f.client.Say(testContext(t), large)
	wantCode(t, err, codes.ResourceExhausted)
	stream, err := f.client.Chat(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(large); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("a message beyond the limit is answered")
	}
	f.server.GracefulStop()
	if calls := c.Calls(t); len(calls) != 0 {
		t.Errorf("captured %+v", calls)
	}
}

func TestAPlainServiceIsCapturedToo(t *testing.T) {
	c := capturetest.New(t)
	server := grpc.NewServer(captureOptions(c)...)
	testpb.RegisterEchoServer(server, &plainEcho{})
	client := testpb.NewEchoClient(serve(t, server))
	say(t, client, echotest.New("plain"))
	server.GracefulStop()
	calls := c.Calls(t)
	if len(calls) != 1 || !proto.Equal(capturetest.Parsed[testpb.Note](t, calls[0].Response), echotest.Shouted(echotest.New("plain"))) {
		t.Errorf("captured %+v", calls)
	}
}

func TestStreamsAreCapturedMessageByMessage(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			c := capturetest.New(t)
			f := start(t, &echo{}, grpcgo.Options{StreamScope: streamScope}, captureOptions(c)...)
			repeat(t, f.client, "r") // one request, 5 replies
			collect(t, f.client, "c")
			chat(t, f.client, "t")
			f.server.GracefulStop()
			counts := capturetest.Counted(t, c.Calls(t), echotest.Shouted)
			want := map[string][4]int{
				testpb.Echo_Repeat_FullMethodName:  {5, 1, 5, 1},
				testpb.Echo_Collect_FullMethodName: {5, 5, 1, 0},
				testpb.Echo_Chat_FullMethodName:    {20, 20, 20, 20},
			}
			if !reflect.DeepEqual(counts, want) || c.Stats().CallsDropped != 0 {
				t.Errorf("captured %v, want %v; %+v", counts, want, c.Stats())
			}
		})
	}
}

func TestOtherMethodsAreNotCaptured(t *testing.T) {
	c := capturetest.New(t)
	interceptor := grpcgo.CaptureUnaryInterceptor(c.Capture, testpb.Echo_Fail_FullMethodName)
	f := start(t, &echo{}, grpcgo.Options{}, grpc.UnaryInterceptor(interceptor),
		grpc.StreamInterceptor(grpcgo.CaptureStreamInterceptor(c.Capture, testpb.Echo_Chat_FullMethodName)))
	say(t, f.client, echotest.New("a"))
	repeat(t, f.client, "r")
	f.server.GracefulStop()
	if calls := c.Calls(t); len(calls) != 0 || c.Stats().CallsDropped != 0 {
		t.Errorf("captured %+v, %+v", calls, c.Stats())
	}
}
