package trpcgo_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/server"
	"trpc.group/trpc-go/trpc-go/transport"
	"trpc.group/trpc-go/trpc-go/transport/tnet"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// carriers are the ways on which a request may come.
var carriers = map[string]struct {
	server []server.Option
	client []client.Option
}{
	"tnet": {
		server: []server.Option{server.WithTransport(tnet.NewServerTransport())},
		client: []client.Option{client.WithTransport(tnet.DefaultClientTransport)},
	},
	"net": {
		server: []server.Option{server.WithTransport(transport.NewServerTransport())},
		client: []client.Option{client.WithTransport(transport.DefaultClientTransport)},
	},
	"net, one at a time": {
		server: []server.Option{server.WithTransport(transport.NewServerTransport()), server.WithServerAsync(false)},
	},
	"multiplexed":   {client: []client.Option{client.WithMultiplexed(true)}},
	"gzip":          {client: []client.Option{client.WithCompressType(codec.CompressTypeGzip)}},
	"snappy":        {client: []client.Option{client.WithCompressType(codec.CompressTypeSnappy)}},
	"snappy blocks": {client: []client.Option{client.WithCompressType(codec.CompressTypeBlockSnappy)}},
	"zlib":          {client: []client.Option{client.WithCompressType(codec.CompressTypeZlib)}},
	"a framer that reuses its buffer": {
		server: []server.Option{
			server.WithTransport(transport.NewServerTransport()), server.WithServerAsync(false),
			func(o *server.Options) {
				o.ServeOptions = append(o.ServeOptions, transport.WithServerFramerBuilder(reusingFramers{}))
			},
		},
	},
}

// reusingFramers read each frame of a connection into the same buffer.
type reusingFramers struct{}

type reusingFramer struct {
	reader io.Reader
	buffer []byte
}

func (reusingFramers) New(r io.Reader) codec.Framer { return &reusingFramer{r, make([]byte, 64<<10)} }

func (f *reusingFramer) ReadFrame() ([]byte, error) {
	if _, err := io.ReadFull(f.reader, f.buffer[:16]); err != nil {
		return nil, err
	}
	frame := f.buffer[:binary.BigEndian.Uint32(f.buffer[4:8])]
	_, err := io.ReadFull(f.reader, frame[16:])
	return frame, err
}

// Strings of requests, and of the replies to a client with a scope, stay what they are, however many
// messages come after them.
func TestStringsOutliveTheirMessages(t *testing.T) {
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range carriers {
		t.Run(name, func(t *testing.T) {
			if name == "tnet" && !useTnet {
				t.Skip("tnet does not run in this build")
			}
			var mutex sync.Mutex
			kept := map[string]string{}
			keep := func(text, name string) {
				mutex.Lock()
				defer mutex.Unlock()
				kept[strings.Clone(text)] = name
			}
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				keep(in.Text, in.Author.Name)
				return echotest.Shout(scope.From(ctx).Arena(), in), nil
			}}, trpcgo.Options{}, c.server...)
			proxy := testpb.NewEchoClientProxy(append(c.client, client.WithTarget(f.target), trpcgo.WithScopes(trpcgo.ConnOptions{}))...)
			const workers, calls = 4, 100
			var group sync.WaitGroup
			for w := range workers {
				group.Go(func() {
					for i := range calls {
						s := pool.Get()
						text := fmt.Sprintf("t%d.%d%s", w, i, strings.Repeat("y", i))
						out, err := proxy.Say(scope.NewContext(testContext(t), s), echotest.New(text))
						if err != nil {
							t.Error(err)
							return
						}
						keep(out.Text, out.Author.Name)
						s.End()
					}
				})
			}
			group.Wait()
			for text, name := range kept {
				if !strings.EqualFold(name, "author "+text) {
					t.Fatalf("the name that belongs to %q is %q", text, name)
				}
			}
			if m := f.settled(t, "Say"); m.Uncovered != 0 || m.ScopesRetained != 0 || len(kept) != 2*workers*calls {
				t.Errorf("%d strings were kept, and the calls count as %+v", len(kept), m)
			}
		})
	}
}

func TestUDP(t *testing.T) {
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	var f fixture
	address := "127.0.0.1:" + freeUDPPort(t)
	s := server.New(server.WithServiceName("udp"), server.WithProtocol(trpc.ProtocolName), server.WithNetwork("udp"), server.WithAddress(address))
	f.Service = trpcgo.Register(s, &desc, &echo{}, trpcgo.Options{})
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	proxy := testpb.NewEchoClientProxy(client.WithTarget("ip://"+address), client.WithNetwork("udp"))
	for deadline := time.Now().Add(20 * time.Second); ; { // until it listens
		if _, err := proxy.Say(testContext(t), echotest.New("first"), client.WithTimeout(time.Second)); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	before := f.settled(t, "Say").ScopesStarted
	for i := range 20 {
		say(t, proxy, echotest.New(fmt.Sprint("packet ", i)))
	}
	if m := f.settled(t, "Say"); m.ScopesStarted != before+20 || m.ScopesRetained != 0 || m.Uncovered != 0 {
		t.Errorf("20 packets count as %+v", m)
	}
	s.Close(nil)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
