package trpcgo_test

import (
	"fmt"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/capture/capturetest"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func captureOptions(c capturetest.Capturing) []server.Option {
	return []server.Option{
		server.WithFilter(trpcgo.CaptureFilter(c.Capture, sayName, failName)),
		server.WithStreamFilter(trpcgo.CaptureStreamFilter(c.Capture, repeatName, collectName, chatName)),
	}
}

const chatName = "/harena.test.echo.Echo/Chat"

func TestCapturedCallsAreAsOnTheWire(t *testing.T) {
	for _, mode := range []scope.Mode{scope.Heap, scope.Codec} {
		c := capturetest.New(t)
		f := start(t, &echo{}, trpcgo.Options{Mode: mode}, captureOptions(c)...)
		json := client.WithSerializationType(codec.SerializationTypeJSON)
		for i, options := range [][]client.Option{nil, {client.WithCompressType(codec.CompressTypeGzip)}, {json}} {
			say(t, f.client, echotest.New(fmt.Sprint(i)), options...)
		}
		_, err := f.client.Fail(testContext(t), &testpb.Note{Number: 12345})
		wantCode(t, err, 12345)
		f.stop()
		calls := c.Calls(t)
		if len(calls) != 3 || c.Stats().CallsDropped != 1 {
			t.Fatalf("%v: %d calls, %+v", mode, len(calls), c.Stats())
		}
		for i, call := range calls {
			in := echotest.New(fmt.Sprint(i))
			if call.Method != sayName || call.Time.IsZero() ||
				!proto.Equal(capturetest.Parsed[testpb.Note](t, call.Request), in) || !proto.Equal(capturetest.Parsed[testpb.Note](t, call.Response), echotest.Shouted(in)) {
				t.Errorf("%v: captured %+v", mode, call)
			}
		}
	}
}

func TestARefusedRequestIsNotCaptured(t *testing.T) {
	c := capturetest.New(t)
	large := &testpb.Note{Blob: make([]byte, 10_000)}
	f := start(t, &echo{}, trpcgo.Options{RequestBytesMax: 4000}, captureOptions(c)...)
	_, err := f.client.Say(testContext(t), large)
	wantCode(t, err, errs.RetServerOverload)
	f.stop()

	f = startStreams(t, &echo{}, trpcgo.Options{RequestBytesMax: 4000, StreamScope: trpcgo.PerMessage}, captureOptions(c)...)
	stream := opened(t, func() (testpb.Echo_ChatClient, error) { return f.client.Chat(testContext(t)) })
	if err := stream.Send(large); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("a message beyond the limit is answered")
	}
	f.stop()
	if calls := c.Calls(t); len(calls) != 0 {
		t.Errorf("captured %+v", calls)
	}
}

func TestAPlainServiceIsCapturedToo(t *testing.T) {
	c := capturetest.New(t)
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	target, stop := serve(t, func(s server.Service) {
		if err := s.Register(&desc, plainEcho); err != nil {
			t.Fatal(err)
		}
	}, captureOptions(c)...)
	say(t, testpb.NewEchoClientProxy(client.WithTarget(target)), echotest.New("plain"))
	stop()
	calls := c.Calls(t)
	if len(calls) != 1 || !proto.Equal(capturetest.Parsed[testpb.Note](t, calls[0].Response), echotest.Shouted(echotest.New("plain"))) {
		t.Errorf("captured %+v", calls)
	}
}

func TestStreamsAreCapturedMessageByMessage(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			c := capturetest.New(t)
			f := startStreams(t, &echo{}, trpcgo.Options{StreamScope: streamScope}, captureOptions(c)...)
			repeat(t, f.client, "r") // one request, 5 replies
			collect(t, f.client, "c")
			chat(t, f.client, "t")
			f.stop()
			counts := capturetest.Counted(t, c.Calls(t), echotest.Shouted)
			want := map[string][4]int{
				repeatName:  {5, 1, 5, 1},
				collectName: {5, 5, 1, 0},
				chatName:    {20, 20, 20, 20},
			}
			if !reflect.DeepEqual(counts, want) || c.Stats().CallsDropped != 0 {
				t.Errorf("captured %v, want %v; %+v", counts, want, c.Stats())
			}
		})
	}
}

func TestOtherMethodsAreNotCaptured(t *testing.T) {
	c := capturetest.New(t)
	f := start(t, &echo{}, trpcgo.Options{}, server.WithFilter(trpcgo.CaptureFilter(c.Capture, failName)))
	say(t, f.client, echotest.New("a"))
	f.stop()
	if calls := c.Calls(t); len(calls) != 0 || c.Stats().CallsDropped != 0 {
		t.Errorf("captured %+v, %+v", calls, c.Stats())
	}
}
