package connectgo

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/scope"
)

// incoming is where messages are decoded to. For a stream it waits in the table of that name while
// connect receives a message, and the codec finds it there.
type incoming struct {
	entry handoff.Entry[*incoming]

	method *method
	arena  *arena.Arena
	limits scope.Options

	wireBytes int64 // of all messages so far
	refused   error // the limit that the last message crossed
}

var incomings handoff.Table[*incoming]

// receive calls connect's receive, which decodes the message here if it reaches our codec.
func (in *incoming) receive(receive func(any) error, message any) error {
	in.refused = nil
	key := handoff.Key(message)
	if key == nil {
		return receive(message)
	}
	in.entry.Value = in
	incomings.Put(key, &in.entry)
	defer incomings.Remove(key, &in.entry)
	if err := receive(message); err != nil {
		return err
	}
	return in.refused
}

// unmarshal decodes a message. A refusal is kept: as the codec's error, connect would report it with
// the code invalid_argument.
func (in *incoming) unmarshal(data []byte, m proto.Message) error {
	in.wireBytes += int64(len(data))
	left := int64(0)
	if most := in.limits.RequestBytesMax; most > 0 {
		if left = most - in.wireBytes; left <= 0 {
			in.refuse(m, refusedWire(in.method.name, most, in.wireBytes))
			return nil
		}
		in.arena.SetBytesMax(left)
	}
	options := pb.UnmarshalOptions{Limits: pb.Limits{BytesMax: left, DepthMax: in.limits.DepthMax}}
	// The copy is the one string that the strings of the message will be parts of. Connect reuses its
	// own buffers.
	err := options.UnmarshalString(in.arena, string(data), m)
	var limit *pb.LimitError
	if errors.As(err, &limit) {
		in.refuse(m, refusedDecoding(in.method.name, in.limits.RequestBytesMax, in.wireBytes, limit))
		return nil
	}
	return err
}

func (in *incoming) refuse(m proto.Message, err error) {
	proto.Reset(m) // interceptors may look at it
	in.refused = err
	in.method.pool.Refuse()
}
