package connectgo

import (
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

// receive calls connect's receive, which decodes the message here if it reaches our codec. A refusal is
// returned here and not by the codec, whose errors connect reports with the code invalid_argument.
func (in *incoming) receive(receive func(any) error, message any) error {
	if err := in.Receive(receive, message); err != nil {
		return err
	}
	return in.refused()
}

// refused returns the error of the last message's refusal, or nil.
func (in *incoming) refused() error { return refused(in.Refusal()) }

// unmarshal decodes a message, and counts a refusal.
func (m *method) unmarshal(in *inbound.Decoder, data []byte, message proto.Message) error {
	_, err := in.Unmarshal(data, message) // connect reuses its buffers
	if r := in.Refusal(); r != nil {
		m.pool.Refuse(r.Limit)
	}
	return err
}
