package grpcgo

import (
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/pb/inbound"
)

// codec does what the codec that was registered before it does, except for the messages that a
// wrapped method waits for.
type codec struct {
	next encoding.CodecV2
}

var registered = codec{next: encoding.GetCodecV2(grpcproto.Name)}

func init() { encoding.RegisterCodecV2(registered) }

// Codec returns the codec that this package registers with gRPC under the name "proto" when it is
// imported. Servers and clients pick it up by themselves. It has to be named only where another codec
// would be used in its place, because one was registered later or forced:
//
//	grpc.NewServer(grpc.ForceServerCodecV2(grpcgo.Codec()))
//
// Where it is missing, everything works as without Harena; [MethodStats] counts it as Uncovered.
func Codec() encoding.CodecV2 { return registered }

// Name returns "proto".
func (codec) Name() string { return grpcproto.Name }

// Unmarshal decodes into the arena of the method that waits for the message, if one does.
func (c codec) Unmarshal(data mem.BufferSlice, message any) error {
	if in, waiting := inbound.Find(message); waiting {
		if m, ok := message.(proto.Message); ok {
			if inTime, err := in.UnmarshalCopy(data.Len(), func() string { return immutable(data) }, m); inTime {
				return err
			}
		}
	}
	return c.next.Unmarshal(data, message)
}

// Marshal encodes with Harena's tables if the message is one of a wrapped method, and ends the scope
// that the message owns.
func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	if o, waiting := outgoings.Take(handoff.Key(message)); waiting {
		if m, ok := message.(proto.Message); ok {
			return o.marshal(m)
		}
	}
	return c.next.Marshal(message)
}
