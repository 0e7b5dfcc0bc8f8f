package grpcgo_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
)

// rawCodec sends and receives bytes as they are.
type rawCodec struct{ encoding.CodecV2 }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func rawSay(t testing.TB, conn grpc.ClientConnInterface, request []byte) ([]byte, error) {
	var reply []byte
	err := conn.Invoke(testContext(t), sayName, &request, &reply, grpc.ForceCodecV2(rawCodec{grpcgo.Codec()}))
	return reply, err
}

// Garbage, and messages cut off anywhere, get the code that plain gRPC gives them.
func TestMalformedMessages(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{RequestBytesMax: 1 << 20})
	plain := grpc.NewServer()
	testpb.RegisterEchoServer(plain, &plainEcho{})
	plainConn := serve(t, plain)

	whole, err := proto.Marshal(echotest.New("whole"))
	if err != nil {
		t.Fatal(err)
	}
	var requests [][]byte
	for cut := range whole {
		requests = append(requests, whole[:cut])
	}
	random := rand.New(rand.NewSource(1))
	for range 200 {
		garbage := bytes.Clone(whole)
		for range 1 + random.Intn(4) {
			garbage[random.Intn(len(garbage))] = byte(random.Intn(256))
		}
		requests = append(requests, garbage)
	}
	rejected := 0
	for _, request := range requests {
		want, wantErr := rawSay(t, plainConn, request)
		got, err := rawSay(t, f.conn, request)
		if status.Code(err) != status.Code(wantErr) {
			t.Fatalf("%x: %v, plain gRPC says %v", request, err, wantErr)
		}
		if err != nil {
			rejected++
			continue
		}
		var a, b testpb.Note
		if proto.Unmarshal(got, &a) != nil || proto.Unmarshal(want, &b) != nil || !proto.Equal(&a, &b) {
			t.Fatalf("%x: %v, plain gRPC answers %v", request, &a, &b)
		}
	}
	if rejected == 0 || rejected == len(requests) {
		t.Errorf("%d of %d requests were rejected", rejected, len(requests))
	}
	say(t, f.client, echotest.New("good"))
	if m := f.settled(t, "Say"); m.ScopesRetained != uint64(rejected) {
		t.Errorf("%d malformed requests count as %+v", rejected, m)
	}
}

// frame is a gRPC frame that claims to have some length.
func frame(length int, body []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{0}, uint32(length))
	return append(out, body...)
}

// Frames that end early, come twice or claim too much, over bare HTTP/2.
func TestMalformedFrames(t *testing.T) {
	server := grpc.NewServer()
	service := grpcgo.Register(server, &testpb.Echo_ServiceDesc, &echo{}, grpcgo.Options{RequestBytesMax: 1 << 20})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	defer server.Stop()

	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	body, _ := proto.Marshal(echotest.New("n"))
	for name, c := range map[string]struct {
		body []byte
		want codes.Code
	}{
		"whole":         {frame(len(body), body), codes.OK},
		"empty":         {nil, codes.Internal},
		"short header":  {[]byte{0, 0, 0}, codes.Internal},
		"short message": {frame(len(body), body[:len(body)/2]), codes.Internal},
		"huge claim":    {frame(1<<31, body), codes.ResourceExhausted},
		"two messages":  {append(frame(len(body), body), frame(len(body), body)...), codes.Internal},
		"compressed without a word": {
			append([]byte{1}, frame(len(body), body)[1:]...), codes.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			request, _ := http.NewRequestWithContext(testContext(t), "POST", "http://"+listener.Addr().String()+sayName, bytes.NewReader(c.body))
			request.Header.Set("Content-Type", "application/grpc")
			request.Header.Set("TE", "trailers")
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			buffer := new(bytes.Buffer)
			buffer.ReadFrom(response.Body)
			response.Body.Close()
			got := response.Trailer.Get("Grpc-Status") + response.Header.Get("Grpc-Status")
			if got != fmt.Sprint(int(c.want)) {
				t.Errorf("status %q, want %d: %s", got, c.want, response.Trailer.Get("Grpc-Message")+response.Header.Get("Grpc-Message"))
			}
		})
	}
	for deadline := time.Now().Add(5 * time.Second); service.Methods()[0].ScopesAlive() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("scopes stay alive: %+v", service.Methods()[0])
		}
		time.Sleep(time.Millisecond)
	}
}

// Clients that go away while their reply is written, with and without a stats handler.
func TestClientsThatGoAway(t *testing.T) {
	for name, serverOptions := range map[string][]grpc.ServerOption{
		"plain":              nil,
		"with stats handler": {grpc.StatsHandler(&sizer{})},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, &echo{}, grpcgo.Options{StreamScope: grpcgo.PerMessage}, serverOptions...)
			in := &testpb.Note{Number: 20, Blob: make([]byte, 200_000)}
			var group sync.WaitGroup
			for w := range 4 {
				group.Go(func() {
					random := rand.New(rand.NewSource(int64(w)))
					for range 50 {
						ctx, cancel := cancelAfter(t, time.Duration(random.Intn(4000))*time.Microsecond)
						if random.Intn(2) == 0 {
							f.client.Say(ctx, in)
						} else if stream, err := f.client.Repeat(ctx, in); err == nil {
							for err == nil {
								_, err = stream.Recv()
							}
						}
						cancel()
					}
				})
			}
			group.Wait()
			for range 20 {
				say(t, f.client, echotest.New("still here"))
			}
			collected(t, f, "Say")
			collected(t, f, "Repeat")
		})
	}
}
