package trpcgo_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	_ "trpc.group/trpc-go/trpc-go/http" // the protocol
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
)

// The same service over trpc-go's protocol http: protobuf on the scope, JSON as without Harena.
func TestHTTP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	s := server.New(server.WithServiceName("http"), server.WithProtocol("http"), server.WithNetwork("tcp"), server.WithListener(listener))
	f := &fixture{Service: trpcgo.Register(s, &desc, &echo{}, trpcgo.Options{RequestBytesMax: 100_000})}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	defer func() {
		s.Close(nil)
		<-done
	}()

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	post := func(kind string, body []byte) (*http.Response, []byte) {
		t.Helper()
		request, _ := http.NewRequestWithContext(testContext(t), "POST", "http://"+listener.Addr().String()+sayName, bytes.NewReader(body))
		request.Header.Set("Content-Type", kind)
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		reply, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, reply
	}
	for i := range 20 {
		in := echotest.New(fmt.Sprint("posted ", i))
		body, _ := proto.Marshal(in)
		var out testpb.Note
		if _, reply := post("application/pb", body); proto.Unmarshal(reply, &out) != nil || !proto.Equal(&out, echotest.Shouted(in)) {
			t.Fatalf("%q", reply)
		}
		body, _ = protojson.Marshal(in)
		if _, reply := post("application/json", body); protojson.Unmarshal(reply, &out) != nil || !proto.Equal(&out, echotest.Shouted(in)) {
			t.Fatalf("%q", reply)
		}
	}
	body, _ := proto.Marshal(&testpb.Note{Blob: make([]byte, 200_000)})
	if response, _ := post("application/pb", body); response.Header.Get("trpc-ret") != "22" {
		t.Errorf("over the limit: %v", response.Header)
	}
	if m := f.settled(t, "Say"); m.ScopesStarted != 41 || m.ScopesRetained != 21 || m.Uncovered != 20 || m.ScopesRefused != 1 {
		t.Errorf("20 calls in protobuf, 20 in JSON and a refusal count as %+v", m)
	}
}
