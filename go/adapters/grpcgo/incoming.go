package grpcgo

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/pb/inbound"
	"github.com/harena-project/harena/go/scope"
)

// incoming is where messages are decoded to.
type incoming struct {
	inbound.Decoder
}

func newIncoming(method string, s *scope.Scope) *incoming {
	in := new(incoming)
	in.Init(method, s)
	return in
}

// receive calls gRPC's receive, which decodes the message here if it reaches our codec. A refusal is
// returned here and not by the codec, whose errors gRPC sends to the client with the code Internal.
func (in *incoming) receive(receive func(any) error, message any) error {
	if err := in.Receive(receive, message); err != nil {
		return err
	}
	return refused(in.Refusal())
}

// unmarshal decodes the bytes, in one piece: as gRPC read them if they are one, else in a buffer
// of ours, which what is refused by its wire alone does not take. The strings are copied out of it,
// since gRPC reuses its buffers.
func unmarshal(in *inbound.Decoder, data mem.BufferSlice, m proto.Message) (inTime bool, err error) {
	var whole mem.Buffer
	defer func() {
		if whole != nil {
			whole.Free()
		}
	}()
	return in.UnmarshalFrom(data.Len(), func() []byte {
		whole = data.MaterializeToBuffer(buffers)
		return whole.ReadOnlyData()
	}, m)
}
