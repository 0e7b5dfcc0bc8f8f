package connectgo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

var streamScopes = map[string]connectgo.StreamScope{
	"heap":        connectgo.StreamHeap,
	"per message": connectgo.PerMessage,
	"per stream":  connectgo.PerStream,
}

func TestStreamsInEveryProtocol(t *testing.T) {
	for name, streamScope := range streamScopes {
		for _, p := range protocols() {
			t.Run(name+" "+p.name, func(t *testing.T) {
				f := start(t, &echo{}, connectgo.Options{StreamScope: streamScope})
				client := p.client(t, f.server)
				for i := range 3 {
					repeat(t, client, fmt.Sprint("r", i))
					collect(t, client, fmt.Sprint("c", i))
					if p.http2 {
						chat(t, client, fmt.Sprint("t", i))
					}
				}
				for _, method := range []string{"Repeat", "Collect", "Chat"} {
					if m := f.settled(t, method); streamScope != connectgo.StreamHeap && m.ScopesRetained != 0 {
						t.Errorf("%s: memory is not recycled: %+v", method, m)
					}
				}
				if n := connectgo.TableSizes(); n != 0 {
					t.Errorf("%d entries are left in the tables", n)
				}
			})
		}
	}
}

func repeat(t testing.TB, client testpbconnect.EchoClient, text string) {
	t.Helper()
	in := echotest.New(text)
	stream, err := client.Repeat(testContext(t), connect.NewRequest(in))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	count := 0
	for ; stream.Receive(); count++ {
		if !proto.Equal(stream.Msg(), echotest.Shouted(in)) {
			t.Fatalf("received %v", stream.Msg())
		}
	}
	if count != 5 || stream.Err() != nil {
		t.Fatalf("%d replies, %v", count, stream.Err())
	}
}

func collect(t testing.TB, client testpbconnect.EchoClient, text string) {
	t.Helper()
	stream := client.Collect(testContext(t))
	want := &testpb.Note{}
	for i := range 5 {
		// The echo shares the request's author with its reply, which PerMessage does not allow here.
		in := echotest.New(fmt.Sprint(text, i))
		in.Author = nil
		if err := stream.Send(in); err != nil {
			t.Fatal(err)
		}
		want.Children = append(want.Children, echotest.Shouted(in))
	}
	out, err := stream.CloseAndReceive()
	if err != nil || !proto.Equal(out.Msg, want) {
		t.Fatalf("%v, %v", out, err)
	}
}

func chat(t testing.TB, client testpbconnect.EchoClient, text string) {
	t.Helper()
	stream := client.Chat(testContext(t))
	for i := range 20 {
		in := echotest.New(fmt.Sprint(text, i))
		if err := stream.Send(in); err != nil {
			t.Fatal(err)
		}
		if out, err := stream.Receive(); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
			t.Fatalf("%v, %v", out, err)
		}
	}
	stream.CloseRequest()
	if _, err := stream.Receive(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the last message: %v", err)
	}
	stream.CloseResponse()
}

func TestRetainInAStream(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{collect: func(ctx context.Context, stream *connect.ClientStream[testpb.Note]) (*testpb.Note, error) {
		for stream.Receive() {
			if in := stream.Msg(); in.Text[0] == 'k' {
				connectgo.Retain(ctx)
				kept = append(kept, in)
			}
		}
		return &testpb.Note{}, stream.Err()
	}}, connectgo.Options{StreamScope: connectgo.PerMessage})
	stream := f.client(t).Collect(testContext(t))
	for i := range 20 {
		stream.Send(echotest.New(fmt.Sprint("kept", i)))
		stream.Send(echotest.New(fmt.Sprint("dropped", i)))
	}
	if _, err := stream.CloseAndReceive(); err != nil {
		t.Fatal(err)
	}
	if m := f.settled(t, "Collect"); m.ScopesRetained != 20 || len(kept) != 20 {
		t.Errorf("20 of 40 messages kept count as %+v", m)
	}
	for i, in := range kept {
		if !proto.Equal(in, echotest.New(fmt.Sprint("kept", i))) {
			t.Errorf("kept %v", in)
		}
	}
}

func TestStreamLimits(t *testing.T) {
	f := start(t, &echo{repeat: func(ctx context.Context, in *testpb.Note, _ *connect.ServerStream[testpb.Note]) error {
		arena.MakeSlice[byte](scope.From(ctx).Arena(), 200_000, 200_000)
		return nil
	}}, connectgo.Options{RequestBytesMax: 100_000, StreamScope: connectgo.PerMessage})
	client := f.client(t)

	stream := client.Chat(testContext(t))
	for range 10 { // each message is bounded alone
		if err := stream.Send(&testpb.Note{Blob: make([]byte, 30_000)}); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Receive(); err != nil {
			t.Fatal(err)
		}
	}
	stream.Send(&testpb.Note{Blob: make([]byte, 120_000)})
	_, err := stream.Receive()
	wantCode(t, err, connect.CodeResourceExhausted, testpbconnect.EchoChatProcedure, "RequestBytesMax is 100000 bytes")
	stream.CloseRequest()
	stream.CloseResponse()
	if m := f.settled(t, "Chat"); m.ScopesRefused != 1 || m.ScopesRetained != 2 { // it and the one before
		t.Errorf("a refused message counts as %+v", m)
	}

	greedy, err := client.Repeat(testContext(t), connect.NewRequest(echotest.New("greedy")))
	if err == nil {
		greedy.Receive()
		err = greedy.Err()
		greedy.Close()
	}
	wantCode(t, err, connect.CodeResourceExhausted, testpbconnect.EchoRepeatProcedure, "200000 more were wanted")
	if m := f.settled(t, "Repeat"); m.ScopesRefused != 1 || m.ScopesRetained != 2 { // received and made
		t.Errorf("a refusal counts as %+v", m)
	}

	whole := start(t, &echo{}, connectgo.Options{RequestBytesMax: 100_000, StreamScope: connectgo.PerStream})
	all := whole.client(t).Collect(testContext(t))
	for range 6 { // together they are over the limit
		all.Send(&testpb.Note{Blob: make([]byte, 30_000)})
	}
	_, err = all.CloseAndReceive()
	wantCode(t, err, connect.CodeResourceExhausted, testpbconnect.EchoCollectProcedure)
	whole.settled(t, "Collect")
}

func TestStreamErrorsPanicsAndCancellation(t *testing.T) {
	waiting := make(chan struct{})
	f := start(t, &echo{chat: func(ctx context.Context, stream *connect.BidiStream[testpb.Note, testpb.Note]) error {
		in, err := stream.Receive()
		if err != nil {
			return err
		}
		switch in.Text {
		case "panic":
			panic("handler's own")
		case "error":
			return connect.NewError(connect.CodeInvalidArgument, lazyError{in})
		}
		close(waiting)
		<-ctx.Done()
		return ctx.Err()
	}}, connectgo.Options{StreamScope: connectgo.PerMessage})
	client := f.client(t)
	for text, want := range map[string]string{
		"panic": "", // whatever net/http makes of it
		"error": "bad note author error",
		"wait":  "canceled",
	} {
		ctx, cancel := context.WithCancel(testContext(t))
		stream := client.Chat(ctx)
		if err := stream.Send(echotest.New(text)); err != nil {
			t.Fatal(err)
		}
		if text == "wait" {
			<-waiting
			cancel()
		}
		if _, err := stream.Receive(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		stream.CloseRequest()
		stream.CloseResponse()
		cancel()
	}
	if m := f.settled(t, "Chat"); m.ScopesRetained != 3 {
		t.Errorf("three calls that fail count as %+v", m)
	}
}
