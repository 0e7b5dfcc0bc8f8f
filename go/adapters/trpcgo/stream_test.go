package trpcgo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

var streamScopes = map[string]trpcgo.StreamScope{
	"heap":        trpcgo.StreamHeap,
	"per message": trpcgo.PerMessage,
	"per stream":  trpcgo.PerStream,
}

func TestStreams(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := startStreams(t, &echo{}, trpcgo.Options{StreamScope: streamScope})
			for i := range 5 {
				repeat(t, f.client, fmt.Sprint("r", i))
				collect(t, f.client, fmt.Sprint("c", i))
				chat(t, f.client, fmt.Sprint("t", i))
				chat(t, f.client, fmt.Sprint("z", i), client.WithCompressType(codec.CompressTypeGzip))
				say(t, f.client, echotest.New(fmt.Sprint("u", i)))
			}
			for _, method := range []string{"Repeat", "Collect", "Chat", "Say"} {
				m := f.settled(t, method)
				if (streamScope != trpcgo.StreamHeap || method == "Say") && (m.ScopesRetained != 0 || m.Uncovered != 0 || m.ScopesStarted == 0) {
					t.Errorf("%s: memory is not recycled: %+v", method, m)
				}
			}
		})
	}
}

// opened is the stream that open returns. trpc-go hands a new stream now and then a pooled connection
// that its other end is just closing; then the stream was never begun, and is opened again.
func opened[S any](t testing.TB, open func() (S, error)) S {
	t.Helper()
	for tries := 1; ; tries++ {
		stream, err := open()
		if err == nil {
			return stream
		}
		if tries == 5 || !strings.Contains(err.Error(), "Connection is Closed") {
			t.Fatal(err)
		}
	}
}

func repeat(t testing.TB, proxy testpb.EchoClientProxy, text string) {
	t.Helper()
	in := echotest.New(text)
	stream := opened(t, func() (testpb.Echo_RepeatClient, error) { return proxy.Repeat(testContext(t), in) })
	echotest.Repeat(t, stream, in)
}

func collect(t testing.TB, proxy testpb.EchoClientProxy, text string) {
	t.Helper()
	stream := opened(t, func() (testpb.Echo_CollectClient, error) { return proxy.Collect(testContext(t)) })
	echotest.Collect(t, stream, text)
}

func chat(t testing.TB, proxy testpb.EchoClientProxy, text string, options ...client.Option) {
	t.Helper()
	stream := opened(t, func() (testpb.Echo_ChatClient, error) { return proxy.Chat(testContext(t), options...) })
	echotest.Chat(t, stream, text)
}

// A long stream takes the memory of one message with PerMessage, and of all with PerStream.
func TestMemoryOfALongStream(t *testing.T) {
	used := map[trpcgo.StreamScope]int64{}
	for _, streamScope := range streamScopes {
		f := startStreams(t, &echo{}, trpcgo.Options{StreamScope: streamScope})
		chat(t, f.client, "long")
		used[streamScope] = f.settled(t, "Chat").BytesUsedMax
	}
	if used[trpcgo.PerStream] < 10*used[trpcgo.PerMessage] || used[trpcgo.PerMessage] == 0 {
		t.Errorf("20 messages: %d bytes per stream, %d per message", used[trpcgo.PerStream], used[trpcgo.PerMessage])
	}
}

func TestRetainInAStream(t *testing.T) {
	var kept []*testpb.Note
	var dropped []string
	f := startStreams(t, &echo{collect: func(stream testpb.Echo_CollectServer) error {
		for {
			in, err := stream.Recv()
			if err != nil {
				return stream.SendAndClose(&testpb.Note{})
			}
			if in.Text[0] == 'k' {
				trpcgo.Retain(stream.Context())
				kept = append(kept, in)
			} else {
				dropped = append(dropped, in.Text)
			}
		}
	}}, trpcgo.Options{StreamScope: trpcgo.PerMessage})
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
		if dropped[i] != fmt.Sprint("dropped", i) {
			t.Errorf("a string turned into %q", dropped[i])
		}
	}
	if m := f.settled(t, "Collect"); m.ScopesRetained != 20 {
		t.Errorf("%d scopes retained, want 20", m.ScopesRetained)
	}
}

func TestStreamReceivesAndSendsFromTwoGoroutines(t *testing.T) {
	for name, streamScope := range streamScopes {
		t.Run(name, func(t *testing.T) {
			f := startStreams(t, &echo{chat: func(stream testpb.Echo_ChatServer) error {
				return echotest.AnswerAtOnce(stream)
			}}, trpcgo.Options{StreamScope: streamScope})
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
	half := &testpb.Note{Blob: make([]byte, 20_000)}
	for name, c := range map[string]struct {
		scope trpcgo.StreamScope
		last  int // bytes of the last message
	}{
		"each message is bounded alone": {trpcgo.PerMessage, 70_000}, // the five before it are not too much
		"all are bounded together":      {trpcgo.PerStream, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			f := startStreams(t, &echo{collect: func(stream testpb.Echo_CollectServer) error {
				for {
					if _, err := stream.Recv(); err != nil {
						return err
					}
				}
			}}, trpcgo.Options{RequestBytesMax: 60_000, StreamScope: c.scope})
			stream, err := f.client.Collect(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				stream.Send(half)
			}
			stream.Send(&testpb.Note{Blob: make([]byte, c.last)})
			err = stream.RecvMsg(&testpb.Note{})
			wantCode(t, err, errs.RetClientStreamReadEnd, "code:22", collectName, "RequestBytesMax is 60000 bytes")
			if m := f.settled(t, "Collect"); m.ScopesRefused != 1 || m.ScopesRetained == 0 {
				t.Errorf("a refused message counts as %+v", m)
			}
		})
	}
}

func TestStreamHandlerOverTheLimit(t *testing.T) {
	f := startStreams(t, &echo{repeat: func(_ *testpb.Note, stream testpb.Echo_RepeatServer) error {
		arena.MakeSlice[byte](scope.From(stream.Context()).Arena(), 200_000, 200_000)
		return nil
	}}, trpcgo.Options{RequestBytesMax: 100_000, StreamScope: trpcgo.PerMessage})
	stream, err := f.client.Repeat(testContext(t), echotest.New("greedy"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	wantCode(t, err, errs.RetClientStreamReadEnd, "code:22", repeatName, "200000 more were wanted")
	if m := f.settled(t, "Repeat"); m.ScopesRefused != 1 || m.ScopesRetained != 2 { // received and made
		t.Errorf("a refusal counts as %+v", m)
	}
}

func TestStreamErrorsPanicsAndClientsThatGoAway(t *testing.T) {
	recoveringStream := func(ss server.Stream, _ *server.StreamServerInfo, handler server.StreamHandler) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = errs.Newf(10001, "recovered %v", p)
			}
		}()
		return handler(ss)
	}
	f := startStreams(t, &echo{chat: func(stream testpb.Echo_ChatServer) error {
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
		_, err = stream.Recv()
		return err
	}}, trpcgo.Options{StreamScope: trpcgo.PerMessage}, server.WithStreamFilter(recoveringStream))

	for text, want := range map[string]string{"panic": "recovered handler's own", "error": "bad note author error", "leave": ""} {
		ctx, cancel := context.WithCancel(testContext(t))
		stream, err := f.client.Chat(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(echotest.New(text)); err != nil {
			t.Fatal(err)
		}
		if text == "leave" {
			stream.CloseSend()
		}
		_, err = stream.Recv()
		if text != "leave" {
			wantCode(t, err, errs.Code(err), want)
		}
		cancel()
	}
	if m := f.settled(t, "Chat"); m.ScopesRetained != 3 {
		t.Errorf("three calls that fail count as %+v", m)
	}
}
