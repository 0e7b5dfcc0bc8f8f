package grpcgo

import (
	"strings"

	"google.golang.org/grpc/mem"

	"github.com/harena-project/harena/go/pb/inbound"
	"github.com/harena-project/harena/go/scope"
)

// incoming is where messages are decoded to.
type incoming struct {
	inbound.Decoder
}

func newIncoming(method string, s *scope.Scope) *incoming {
	in := new(incoming)
	in.init(method, s)
	return in
}

func (in *incoming) init(method string, s *scope.Scope) {
	in.Method, in.Arena, in.Limits = method, s.Arena(), s.Options()
}

// receive calls gRPC's receive, which decodes the message here if it reaches our codec. A refusal is
// returned here and not by the codec, whose errors gRPC sends to the client with the code Internal.
func (in *incoming) receive(receive func(any) error, message any) error {
	if err := in.Receive(receive, message); err != nil {
		return err
	}
	return refused(in.Refusal())
}

// immutable returns the bytes as one string: the only copy, and the one that the strings of the
// message will be parts of. gRPC reuses its own buffers. A Builder takes memory without zeroing it
// first, which BufferSlice.Materialize does.
func immutable(data mem.BufferSlice) string {
	var b strings.Builder
	b.Grow(data.Len())
	for _, part := range data {
		b.Write(part.ReadOnlyData())
	}
	return b.String()
}
