package connectgo

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/pb/inbound"
	"github.com/harena-project/harena/go/scope"
)

// codec is one method's codec "proto". For messages that nobody waits for it does what connect's own
// codec does.
type codec struct {
	method *method
	unary  bool
}

// Name returns "proto".
func (*codec) Name() string { return "proto" }

// IsBinary returns true.
func (*codec) IsBinary() bool { return true }

// Unmarshal decodes into an arena. Connect tells it nothing of the RPC; see [call] for how the unary
// RPC finds its arena, and [inbound.Find] for streams.
func (c *codec) Unmarshal(data []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return notProto(message)
	}
	if err := c.unmarshal(data, m); err != nil {
		return fmt.Errorf("unmarshal into %T: %w", message, err)
	}
	return nil
}

func (c *codec) unmarshal(data []byte, m proto.Message) error {
	if !c.unary {
		if in, waiting := inbound.Find(m); waiting {
			return c.method.unmarshal(in, data, m)
		}
		return proto.Unmarshal(data, m)
	}
	if c.method.pool.Options().Mode == scope.Heap {
		return proto.Unmarshal(data, m)
	}
	begun := c.method.begin()
	if err := c.method.unmarshal(&begun.in.Decoder, data, m); err != nil {
		begun.scope.Abandon()
		return err
	}
	begun.wait(m)
	return nil
}

// Marshal encodes into a slice of its own.
func (c *codec) Marshal(message any) ([]byte, error) {
	return c.MarshalAppend(nil, message)
}

// MarshalAppend encodes with Harena's tables if the message is one of ours, and ends the scope that
// the message owns.
func (c *codec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, notProto(message)
	}
	if o, waiting := outgoings.Take(handoff.Key(m)); waiting {
		var timer scope.StepTimer
		if o.scope != nil {
			timer = o.scope.StartEncoding()
		}
		out, err := pb.MarshalOptions{}.MarshalAppend(dst, m)
		timer.Stop()
		o.done(err)
		return out, err
	}
	return proto.MarshalOptions{}.MarshalAppend(dst, m)
}

// MarshalStable encodes equal messages to equal bytes.
func (c *codec) MarshalStable(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, notProto(message)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

func notProto(message any) error { return fmt.Errorf("%T doesn't implement proto.Message", message) }
