package trpcgo_test

import (
	"fmt"
	"log/slog"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
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

func (c captured) options() []server.Option {
	return []server.Option{
		server.WithFilter(trpcgo.CaptureFilter(c.Capture, sayName, failName)),
		server.WithStreamFilter(trpcgo.CaptureStreamFilter(c.Capture, repeatName, collectName, chatName)),
	}
}

const chatName = "/harena.test.echo.Echo/Chat"

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
		c := capturing(t)
		f := start(t, &echo{}, trpcgo.Options{Mode: mode}, c.options()...)
		json := client.WithSerializationType(codec.SerializationTypeJSON)
		for i, options := range [][]client.Option{nil, {client.WithCompressType(codec.CompressTypeGzip)}, {json}} {
			say(t, f.client, note(fmt.Sprint(i)), options...)
		}
		_, err := f.client.Fail(testContext(t), &testpb.Note{Number: 12345})
		wantCode(t, err, 12345)
		f.stop()
		calls := c.calls(t)
		if len(calls) != 3 || c.Stats().CallsDropped != 1 {
			t.Fatalf("%v: %d calls, %+v", mode, len(calls), c.Stats())
		}
		for i, call := range calls {
			in := note(fmt.Sprint(i))
			if call.Method != sayName || call.Time.IsZero() ||
				!proto.Equal(parsed(t, call.Request), in) || !proto.Equal(parsed(t, call.Response), shouted(in)) {
				t.Errorf("%v: captured %+v", mode, call)
			}
		}
	}
}

func TestARefusedRequestIsNotCaptured(t *testing.T) {
	c := capturing(t)
	large := &testpb.Note{Blob: make([]byte, 10_000)}
	f := start(t, &echo{}, trpcgo.Options{RequestBytesMax: 4000}, c.options()...)
	_, err := f.client.Say(testContext(t), large)
	wantCode(t, err, errs.RetServerOverload)
	f.stop()

	f = startStreams(t, &echo{}, trpcgo.Options{RequestBytesMax: 4000, StreamScope: trpcgo.PerMessage}, c.options()...)
	stream := opened(t, func() (testpb.Echo_ChatClient, error) { return f.client.Chat(testContext(t)) })
	if err := stream.Send(large); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("a message beyond the limit is answered")
	}
	f.stop()
	if calls := c.calls(t); len(calls) != 0 {
		t.Errorf("captured %+v", calls)
	}
}

func TestAPlainServiceIsCapturedToo(t *testing.T) {
	c := capturing(t)
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	target, stop := serve(t, func(s server.Service) {
		if err := s.Register(&desc, plainEcho); err != nil {
			t.Fatal(err)
		}
	}, c.options()...)
	say(t, testpb.NewEchoClientProxy(client.WithTarget(target)), note("plain"))
	stop()
	calls := c.calls(t)
	if len(calls) != 1 || !proto.Equal(parsed(t, calls[0].Response), shouted(note("plain"))) {
		t.Errorf("captured %+v", calls)
	}
}

func TestStreamsAreCapturedMessageByMessage(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			c := capturing(t)
			f := startStreams(t, &echo{}, trpcgo.Options{StreamScope: streamScope}, c.options()...)
			repeat(t, f.client, "r") // one request, 5 replies
			collect(t, f.client, "c")
			chat(t, f.client, "t")
			f.stop()
			counts := counted(t, c.calls(t))
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
	c := capturing(t)
	f := start(t, &echo{}, trpcgo.Options{}, server.WithFilter(trpcgo.CaptureFilter(c.Capture, failName)))
	say(t, f.client, note("a"))
	f.stop()
	if calls := c.calls(t); len(calls) != 0 || c.Stats().CallsDropped != 0 {
		t.Errorf("captured %+v, %+v", calls, c.Stats())
	}
}
