package trpcgo_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
)

// rawSay calls Say with bytes as they are.
func rawSay(ctx context.Context, target string, request []byte) ([]byte, error) {
	ctx, msg := codec.WithCloneMessage(ctx)
	defer codec.PutBackMessage(msg)
	msg.WithClientRPCName(sayName)
	msg.WithCalleeServiceName("harena.test.echo.Echo")
	msg.WithSerializationType(codec.SerializationTypePB)
	reply := &codec.Body{}
	err := client.DefaultClient.Invoke(ctx, &codec.Body{Data: request}, reply,
		client.WithTarget(target), client.WithCurrentSerializationType(codec.SerializationTypeNoop))
	return reply.Data, err
}

// Garbage, and messages cut off anywhere, get the code that plain trpc-go gives them.
func TestMalformedMessages(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{RequestBytesMax: 1 << 20})
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	plain, _ := serve(t, func(s server.Service) {
		if err := s.Register(&desc, plainEcho); err != nil {
			t.Fatal(err)
		}
	})
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
	rejected, ctx := 0, testContext(t)
	for _, request := range requests {
		want, wantErr := rawSay(ctx, plain, request)
		got, err := rawSay(ctx, f.target, request)
		if errs.Code(err) != errs.Code(wantErr) {
			t.Fatalf("%x: %v, plain trpc-go says %v", request, err, wantErr)
		}
		if err != nil {
			rejected++
			continue
		}
		var a, b testpb.Note
		if proto.Unmarshal(got, &a) != nil || proto.Unmarshal(want, &b) != nil || !proto.Equal(&a, &b) {
			t.Fatalf("%x: %v, plain trpc-go answers %v", request, &a, &b)
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

// A body that says it is compressed, and is not.
func TestMalformedCompression(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{})
	for _, kind := range []int{codec.CompressTypeGzip, codec.CompressTypeSnappy, codec.CompressTypeZlib, 77} {
		_, err := f.client.Say(testContext(t), echotest.New("n"),
			client.WithCompressType(kind), client.WithCurrentCompressType(codec.CompressTypeNoop))
		wantCode(t, err, errs.RetServerDecodeFail)
	}
	if m := f.settled(t, "Say"); m.ScopesStarted != 4 || m.ScopesRetained != 4 {
		t.Errorf("4 malformed requests count as %+v", m)
	}
}

// A small body that decompresses to a large one is refused by the size that it has then.
func TestDecompressedSizeCounts(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{RequestBytesMax: 1 << 20})
	_, err := f.client.Say(testContext(t), &testpb.Note{Text: strings.Repeat("x", 5<<20)}, client.WithCompressType(codec.CompressTypeGzip))
	wantCode(t, err, errs.RetServerOverload, "RequestBytesMax is 1048576 bytes, and the request alone has 5242885 on the wire")
	f.settled(t, "Say")
}

// Frames that end early, claim too much or are none, over a bare connection: trpc-go closes it.
func TestMalformedFrames(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{RequestBytesMax: 1 << 20})
	head := func(magic uint16, total uint32, header uint16) []byte {
		out := binary.BigEndian.AppendUint16(nil, magic)
		out = append(out, 0, 0)
		out = binary.BigEndian.AppendUint32(out, total)
		out = binary.BigEndian.AppendUint16(out, header)
		return append(out, 0, 0, 0, 1, 1, 0)
	}
	for name, frame := range map[string][]byte{
		"not trpc":        []byte("GET / HTTP/1.1\r\n\r\n"),
		"huge claim":      head(0x930, 1<<31, 10),
		"short claim":     head(0x930, 3, 0),
		"no header":       head(0x930, 16, 0),
		"header too long": append(head(0x930, 20, 100), 1, 2, 3, 4),
		"garbled header":  append(head(0x930, 20, 4), 0xff, 0xff, 0xff, 0xff),
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.target, "ip://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := conn.Write(frame); err != nil {
			t.Fatal(err)
		}
		conn.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Logf("%s: %v", name, err) // a reset is fine as well
		}
		conn.Close()
	}
	say(t, f.client, echotest.New("good"))
	if m := f.settled(t, "Say"); m.ScopesStarted != 1 {
		t.Errorf("malformed frames began calls: %+v", m)
	}
}

// Clients that go away while their request is read or their reply is written.
func TestClientsThatGoAway(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{})
	in := &testpb.Note{Number: 20, Blob: make([]byte, 200_000)}
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			random := rand.New(rand.NewSource(int64(w)))
			for range 50 {
				timeout := time.Duration(1+random.Intn(4000)) * time.Microsecond
				f.client.Say(testContext(t), in, client.WithTimeout(timeout), client.WithDisableConnectionPool())
			}
		})
	}
	group.Wait()
	for range 20 {
		say(t, f.client, echotest.New("still here"))
	}
	f.settled(t, "Say")
}
