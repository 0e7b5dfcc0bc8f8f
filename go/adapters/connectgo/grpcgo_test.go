package connectgo_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/pb/echotest"
)

func TestClientOfGRPCGo(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{RequestBytesMax: 1_000_000, StreamScope: connectgo.PerMessage})
	conn, err := grpc.NewClient(strings.TrimPrefix(f.server.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	invoke := func(in *testpb.Note, options ...grpc.CallOption) (*testpb.Note, error) {
		out := &testpb.Note{}
		return out, conn.Invoke(testContext(t), testpbconnect.EchoSayProcedure, in, out, options...)
	}
	for _, options := range [][]grpc.CallOption{nil, {grpc.UseCompressor(gzip.Name)}} {
		for _, in := range []*testpb.Note{echotest.New("small"), {}, echotest.New(strings.Repeat("big ", 10_000))} {
			if out, err := invoke(in, options...); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
				t.Errorf("%v, %v", out, err)
			}
		}
	}
	_, err = invoke(echotest.New(strings.Repeat("x", 400_000)))
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "RequestBytesMax is 1000000 bytes") {
		t.Errorf("over the limit: %v", err)
	}
	if m := f.settled(t, "Say"); m.ScopesRefused != 1 || m.ScopesRetained != 1 {
		t.Errorf("six calls and a refusal count as %+v", m)
	}

	stream, err := conn.NewStream(testContext(t), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, testpbconnect.EchoChatProcedure)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		in, out := echotest.New("chat"), &testpb.Note{}
		if err := stream.SendMsg(in); err != nil {
			t.Fatal(err)
		}
		if err := stream.RecvMsg(out); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
			t.Fatalf("%v, %v", out, err)
		}
	}
	stream.CloseSend()
	stream.RecvMsg(&testpb.Note{})
	f.settled(t, "Chat")
}
