package connectgo_test

import (
	"fmt"
	"reflect"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/pb/capture/capturetest"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func captureOption(c capturetest.Capturing) connect.HandlerOption {
	return connect.WithInterceptors(connectgo.CaptureInterceptor(c.Capture,
		testpbconnect.EchoSayProcedure, testpbconnect.EchoFailProcedure, testpbconnect.EchoRepeatProcedure,
		testpbconnect.EchoCollectProcedure, testpbconnect.EchoChatProcedure))
}

func TestCapturedCallsAreAsOnTheWire(t *testing.T) {
	for _, mode := range []scope.Mode{scope.Heap, scope.Codec} {
		for _, p := range protocols() {
			t.Run(fmt.Sprint(mode, " ", p.name), func(t *testing.T) {
				c := capturetest.New(t)
				f := start(t, &echo{}, connectgo.Options{Mode: mode}, captureOption(c))
				client := p.client(t, f.server)
				for i := range 3 {
					say(t, client, echotest.New(fmt.Sprint(i)))
				}
				_, err := client.Fail(testContext(t), connect.NewRequest(&testpb.Note{Number: int64(connect.CodeNotFound)}))
				wantCode(t, err, connect.CodeNotFound)
				f.server.Close()
				calls := c.Calls(t)
				if len(calls) != 3 || c.Stats().CallsDropped != 1 {
					t.Fatalf("%d calls, %+v", len(calls), c.Stats())
				}
				for i, call := range calls {
					in := echotest.New(fmt.Sprint(i))
					if call.Method != testpbconnect.EchoSayProcedure || call.Time.IsZero() ||
						!proto.Equal(capturetest.Parsed[testpb.Note](t, call.Request), in) || !proto.Equal(capturetest.Parsed[testpb.Note](t, call.Response), echotest.Shouted(in)) {
						t.Errorf("captured %+v", call)
					}
				}
			})
		}
	}
}

func TestARefusedRequestIsNotCaptured(t *testing.T) {
	c := capturetest.New(t)
	f := start(t, &echo{}, connectgo.Options{RequestBytesMax: 4000, StreamScope: connectgo.PerMessage}, captureOption(c))
	large := &testpb.Note{Blob: make([]byte, 10_000)}
	client := f.client(t)
	_, err := client.Say(testContext(t), connect.NewRequest(large))
	wantCode(t, err, connect.CodeResourceExhausted)
	stream := client.Chat(testContext(t))
	if err := stream.Send(large); err != nil {
		t.Fatal(err)
	}
	_, err = stream.Receive()
	wantCode(t, err, connect.CodeResourceExhausted)
	if err := stream.CloseRequest(); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseResponse(); err != nil {
		t.Fatal(err)
	}
	f.server.Close()
	if calls := c.Calls(t); len(calls) != 0 {
		t.Errorf("captured %+v", calls)
	}
}

func TestAPlainServiceIsCapturedToo(t *testing.T) {
	c := capturetest.New(t)
	server := serve(t, plainEcho{}, captureOption(c))
	say(t, overHTTP2.client(t, server), echotest.New("plain"))
	server.Close()
	calls := c.Calls(t)
	if len(calls) != 1 || !proto.Equal(capturetest.Parsed[testpb.Note](t, calls[0].Response), echotest.Shouted(echotest.New("plain"))) {
		t.Errorf("captured %+v", calls)
	}
}

func TestStreamsAreCapturedMessageByMessage(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			c := capturetest.New(t)
			f := start(t, &echo{}, connectgo.Options{StreamScope: streamScope}, captureOption(c))
			client := f.client(t)
			repeat(t, client, "r") // one request, 5 replies
			collect(t, client, "c")
			chat(t, client, "t")
			f.server.Close()
			counts := capturetest.Counted(t, c.Calls(t), echotest.Shouted)
			want := map[string][4]int{
				testpbconnect.EchoRepeatProcedure:  {5, 1, 5, 1},
				testpbconnect.EchoCollectProcedure: {5, 5, 1, 0},
				testpbconnect.EchoChatProcedure:    {20, 20, 20, 20},
			}
			if !reflect.DeepEqual(counts, want) || c.Stats().CallsDropped != 0 {
				t.Errorf("captured %v, want %v; %+v", counts, want, c.Stats())
			}
		})
	}
}

// On a client the interceptor does nothing.
func TestOtherMethodsAndClientsAreNotCaptured(t *testing.T) {
	c := capturetest.New(t)
	f := start(t, &echo{}, connectgo.Options{},
		connect.WithInterceptors(connectgo.CaptureInterceptor(c.Capture, testpbconnect.EchoFailProcedure)))
	asked := overHTTP2
	asked.options = []connect.ClientOption{
		connect.WithInterceptors(connectgo.CaptureInterceptor(c.Capture, testpbconnect.EchoSayProcedure, testpbconnect.EchoRepeatProcedure))}
	client := asked.client(t, f.server)
	say(t, client, echotest.New("a"))
	repeat(t, client, "r")
	f.server.Close()
	if calls := c.Calls(t); len(calls) != 0 || c.Stats().CallsDropped != 0 {
		t.Errorf("captured %+v, %+v", calls, c.Stats())
	}
}
