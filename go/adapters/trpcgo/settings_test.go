package trpcgo

import (
	"context"
	"io"
	"reflect"
	"testing"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/filter"
	"trpc.group/trpc-go/trpc-go/server"
	"trpc.group/trpc-go/trpc-go/transport"
	"trpc.group/trpc-go/trpc-go/transport/tnet"

	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
)

type (
	wrappedService   struct{ server.Service }
	foreignTransport struct{ transport.ServerTransport }
	foreignCodec     struct{ codec.Codec }
	foreignFramer    struct{ *trpc.FramerBuilder }
	foreignPool      struct{ codec.Compressor }
)

func (foreignFramer) New(io.Reader) codec.Framer { return nil }

// When trpc-go renames its field this fails; until it is mended, strings are copied once more than
// need be.
func TestSettingsOfAServer(t *testing.T) {
	protocol, tcp := server.WithProtocol(trpc.ProtocolName), server.WithNetwork("tcp")
	framer := func(o *server.Options) {
		o.ServeOptions = append(o.ServeOptions, transport.WithServerFramerBuilder(foreignFramer{}))
	}
	for name, c := range map[string]struct {
		options []server.Option
		fresh   bool
	}{
		"tnet":              {[]server.Option{protocol, tcp}, true},
		"net":               {[]server.Option{protocol, tcp, server.WithTransport(transport.DefaultServerTransport)}, true},
		"tnet, named":       {[]server.Option{protocol, tcp, server.WithTransport(tnet.DefaultServerTransport)}, true},
		"udp":               {[]server.Option{protocol, server.WithNetwork("udp")}, true},
		"foreign transport": {[]server.Option{protocol, tcp, server.WithTransport(foreignTransport{})}, false},
		"foreign framer":    {[]server.Option{protocol, tcp, framer}, false},
		"foreign codec":     {[]server.Option{protocol, tcp, func(o *server.Options) { o.Codec = foreignCodec{} }}, false},
		"no protocol":       {[]server.Option{tcp}, false},
	} {
		got := settingsOf(server.New(c.options...))
		if want := (settings{c.fresh, false, -1, -1}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	got := settingsOf(server.New(protocol, tcp, server.WithCurrentSerializationType(2), server.WithCurrentCompressType(1)))
	if want := (settings{true, false, 2, 1}); got != want {
		t.Errorf("with types of its own: %+v, want %+v", got, want)
	}
	for _, unknown := range []server.Service{wrappedService{server.New(protocol, tcp)}, &wrappedService{}, nil} {
		if got := settingsOf(unknown); got != unknownSettings {
			t.Errorf("of %T: %+v", unknown, got)
		}
	}
}

func TestServicesOfAServer(t *testing.T) {
	whole, one := &server.Server{}, server.New()
	if got := servicesOf(one); len(got) != 1 || got[0] != one {
		t.Errorf("of one service: %v", got)
	}
	if got := servicesOf(whole); len(got) != 0 {
		t.Errorf("of an empty server: %v", got)
	}
	whole.AddService("a", one)
	whole.AddService("b", server.New())
	if got := servicesOf(whole); len(got) != 2 || got[0] != one && got[1] != one {
		t.Errorf("of two services: %v", got)
	}
}

func TestSettingsOfAClient(t *testing.T) {
	set := func(options ...client.Option) *client.Options {
		o := &client.Options{CurrentSerializationType: -1, CurrentCompressType: -1, Transport: transport.DefaultClientTransport}
		for _, option := range append([]client.Option{client.WithProtocol(trpc.ProtocolName)}, options...) {
			option(o)
		}
		return o
	}
	for name, c := range map[string]struct {
		options *client.Options
		fresh   bool
	}{
		"net":           {set(), true},
		"tnet":          {set(client.WithTransport(tnet.DefaultClientTransport)), true},
		"multiplexed":   {set(client.WithMultiplexed(true)), true},
		"foreign codec": {set(func(o *client.Options) { o.Codec = foreignCodec{} }), false},
		"foreign framer": {set(func(o *client.Options) {
			o.CallOptions = append(o.CallOptions, transport.WithClientFramerBuilder(foreignFramer{}))
		}), false},
		"foreign pool": {set(client.WithPool(nil), func(o *client.Options) { o.Transport = nil }), false},
	} {
		if got, want := clientSettings(c.options), (settings{c.fresh, false, -1, -1}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestWhatIsImmutable(t *testing.T) {
	const foreignType = 1001
	codec.RegisterCompressor(foreignType, foreignPool{})
	_, msg := codec.WithNewMessage(context.Background())
	for kind, want := range map[int]bool{
		codec.CompressTypeNoop: true, codec.CompressTypeGzip: true, codec.CompressTypeSnappy: true, codec.CompressTypeZlib: true,
		codec.CompressTypeStreamSnappy: true, codec.CompressTypeBlockSnappy: true, foreignType: false, 999: false,
	} {
		msg.WithCompressType(kind)
		if got := (settings{true, false, -1, -1}).immutable(msg); got != want {
			t.Errorf("compression %d, said by the message: %v, want %v", kind, got, want)
		}
		if (settings{false, false, -1, -1}).immutable(msg) {
			t.Errorf("compression %d of a frame that is not fresh passes for immutable", kind)
		}
		msg.WithCompressType(codec.CompressTypeNoop)
		if got := (settings{true, false, -1, kind}).immutable(msg); got != want {
			t.Errorf("compression %d, said by the options: %v, want %v", kind, got, want)
		}
	}
}

// Versions of trpc-go after 1.0.3 can decode a request to find out its order, and assign it to the
// message of its call later.
func TestRequestsThatAreDecodedApart(t *testing.T) {
	type options struct{ KeepOrderPreUnmarshalExtractor func() }
	if decodesApart(&transport.ListenServeOptions{}) || decodesApart(&options{}) || !decodesApart(&options{func() {}}) {
		t.Error("the option is not seen for what it is")
	}
	_, msg := codec.WithNewMessage(context.Background())
	if (settings{true, true, -1, -1}).covered(msg) || !(settings{true, false, -1, -1}).covered(msg) {
		t.Error("stand-ins are used where they would be assigned, or not used elsewhere")
	}

	// Where the option is not known, the call fails instead of serving an empty request.
	service, err := Wrap(&testpb.EchoServer_ServiceDesc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	decode := func(body any) (filter.ServerChain, error) {
		reflect.ValueOf(body).Elem().Set(reflect.ValueOf(&incoming{self: &incoming{}}).Elem())
		return nil, nil
	}
	_, err = service.Desc().Methods[0].Func(nil, context.Background(), decode)
	if err != errAssigned {
		t.Errorf("a request that was assigned: %v", err)
	}
}
