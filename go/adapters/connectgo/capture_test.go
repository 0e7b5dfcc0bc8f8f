package connectgo_test

import (
	"fmt"
	"log/slog"
	"reflect"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/pb/capture"
	"github.com/harena-project/harena/go/scope"
)

// captured is a capture into a directory of the test.
type captured struct {
	*capture.Capture
	directory string
}

func capturing(t testing.TB) captured {
	t.Helper()
	directory := t.TempDir()
	c, err := capture.New(capture.Options{Directory: directory, OneIn: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return captured{c, directory}
}

func (c captured) option() connect.HandlerOption {
	return connect.WithInterceptors(connectgo.CaptureInterceptor(c.Capture,
		testpbconnect.EchoSayProcedure, testpbconnect.EchoFailProcedure, testpbconnect.EchoRepeatProcedure,
		testpbconnect.EchoCollectProcedure, testpbconnect.EchoChatProcedure))
}

// calls ends the capture and returns what is in its files.
func (c captured) calls(t testing.TB) []capture.Call {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var calls []capture.Call
	for call, err := range capture.Calls(c.directory) {
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	return calls
}

// parsed is the note, or nil for bytes that are none.
func parsed(t testing.TB, wire []byte) *testpb.Note {
	t.Helper()
	if wire == nil {
		return nil
	}
	out := new(testpb.Note)
	if err := proto.Unmarshal(wire, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// counted says of each method how many calls were captured, and how many of them have a request with a
// text, have a response, and have the response to just that request.
func counted(t testing.TB, calls []capture.Call) map[string][4]int {
	t.Helper()
	counts := map[string][4]int{}
	for _, call := range calls {
		n := counts[call.Method]
		in, out := parsed(t, call.Request), parsed(t, call.Response)
		n[0]++
		if in.Text != "" {
			n[1]++
		}
		if out != nil {
			n[2]++
			if proto.Equal(out, shouted(in)) {
				n[3]++
			}
		}
		counts[call.Method] = n
	}
	return counts
}

func TestCapturedCallsAreAsOnTheWire(t *testing.T) {
	for _, mode := range []scope.Mode{scope.Heap, scope.Codec} {
		for _, p := range protocols() {
			t.Run(fmt.Sprint(mode, " ", p.name), func(t *testing.T) {
				c := capturing(t)
				f := start(t, &echo{}, connectgo.Options{Mode: mode}, c.option())
				client := p.client(t, f.server)
				for i := range 3 {
					say(t, client, note(fmt.Sprint(i)))
				}
				_, err := client.Fail(testContext(t), connect.NewRequest(&testpb.Note{Number: int64(connect.CodeNotFound)}))
				wantCode(t, err, connect.CodeNotFound)
				f.server.Close()
				calls := c.calls(t)
				if len(calls) != 3 || c.Stats().CallsDropped != 1 {
					t.Fatalf("%d calls, %+v", len(calls), c.Stats())
				}
				for i, call := range calls {
					in := note(fmt.Sprint(i))
					if call.Method != testpbconnect.EchoSayProcedure || call.Time.IsZero() ||
						!proto.Equal(parsed(t, call.Request), in) || !proto.Equal(parsed(t, call.Response), shouted(in)) {
						t.Errorf("captured %+v", call)
					}
				}
			})
		}
	}
}

func TestARefusedRequestIsNotCaptured(t *testing.T) {
	c := capturing(t)
	f := start(t, &echo{}, connectgo.Options{RequestBytesMax: 4000, StreamScope: connectgo.PerMessage}, c.option())
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
	if calls := c.calls(t); len(calls) != 0 {
		t.Errorf("captured %+v", calls)
	}
}

func TestAPlainServiceIsCapturedToo(t *testing.T) {
	c := capturing(t)
	server := serve(t, plainEcho{}, c.option())
	say(t, overHTTP2.client(t, server), note("plain"))
	server.Close()
	calls := c.calls(t)
	if len(calls) != 1 || !proto.Equal(parsed(t, calls[0].Response), shouted(note("plain"))) {
		t.Errorf("captured %+v", calls)
	}
}

func TestStreamsAreCapturedMessageByMessage(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			c := capturing(t)
			f := start(t, &echo{}, connectgo.Options{StreamScope: streamScope}, c.option())
			client := f.client(t)
			repeat(t, client, "r") // one request, 5 replies
			collect(t, client, "c")
			chat(t, client, "t")
			f.server.Close()
			counts := counted(t, c.calls(t))
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
	c := capturing(t)
	f := start(t, &echo{}, connectgo.Options{},
		connect.WithInterceptors(connectgo.CaptureInterceptor(c.Capture, testpbconnect.EchoFailProcedure)))
	asked := overHTTP2
	asked.options = []connect.ClientOption{
		connect.WithInterceptors(connectgo.CaptureInterceptor(c.Capture, testpbconnect.EchoSayProcedure, testpbconnect.EchoRepeatProcedure))}
	client := asked.client(t, f.server)
	say(t, client, note("a"))
	repeat(t, client, "r")
	f.server.Close()
	if calls := c.calls(t); len(calls) != 0 || c.Stats().CallsDropped != 0 {
		t.Errorf("captured %+v, %+v", calls, c.Stats())
	}
}
