// Package inbound is what the adapters have in common: a message that arrives is decoded into an
// arena, within a scope's limits, and what crosses a limit is refused. It is for adapters to RPC
// frameworks, Harena's and those of others.
package inbound

import (
	"errors"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/scope"
)

// Decoder is where the messages of one RPC are decoded to. Its exported fields are to be set before
// it is used, and never again.
//
// Thread rule: one goroutine, but Close and Unmarshal may meet on two.
//
// Lifetime rule: messages live as long as the arena.
type Decoder struct {
	Method string // as refusals name it
	Arena  *arena.Arena
	Limits scope.Options
	Scope  *scope.Scope // whose method's counts are told of it; nil for none

	entry     handoff.Entry[*Decoder]
	wireBytes int64 // of all messages so far
	decoded   bool
	refusal   *Refusal

	// Guards the arena against a framework that comes late: an interceptor may return before the
	// call that it made has ended.
	state atomic.Int32
}

// States of Decoder.
const (
	idle int32 = iota
	decoding
	closed
)

var waiting handoff.Table[*Decoder]

// Init sets the exported fields to those of a method and one of its scopes.
func (d *Decoder) Init(method string, s *scope.Scope) {
	d.Method, d.Arena, d.Limits, d.Scope = method, s.Arena(), s.Options(), s
}

// Expect is to be called before each message but the first. Decoded and Refusal then tell of that one.
func (d *Decoder) Expect() { d.decoded, d.refusal = false, nil }

// Receive calls a framework's receive, which fills the message. While it runs, Find leads from the
// message to the decoder, for a codec that is told nothing else. It expects the message.
func (d *Decoder) Receive(receive func(any) error, message any) error {
	d.Expect()
	key := handoff.Key(message)
	if _, ok := message.(proto.Message); !ok || key == nil {
		return receive(message)
	}
	d.entry.Value = d
	waiting.Put(key, &d.entry)
	defer waiting.Remove(key, &d.entry)
	return receive(message)
}

// Find returns the decoder that waits for a message, if one does. It may be called from any goroutine.
func Find(message any) (*Decoder, bool) { return waiting.Find(handoff.Key(message)) }

// Refused reports whether a decoder waits for the message and has left it empty, for a limit that it
// crossed. It may be called by the goroutine that receives the message.
func Refused(message any) bool {
	d, waits := Find(message)
	return waits && d.Refusal() != nil
}

// Waiting returns how many decoders wait for a message.
func Waiting() int { return waiting.Len() }

// Unmarshal decodes data into m. Strings of m are copied out of it. It reports false, having done
// nothing, after Close.
//
// A message that crosses a limit is no error: frameworks make codes of their own of a codec's errors.
// It is left empty, and Refusal says what it was.
func (d *Decoder) Unmarshal(data []byte, m proto.Message) (inTime bool, err error) {
	return d.UnmarshalFrom(len(data), func() []byte { return data }, m)
}

// UnmarshalFrom is Unmarshal for bytes that take memory to be had: it does not ask for those of a
// message that is too large by its wire alone.
func (d *Decoder) UnmarshalFrom(wireBytes int, data func() []byte, m proto.Message) (inTime bool, err error) {
	return d.unmarshal(wireBytes, m, func(o pb.UnmarshalOptions) error {
		o.Limits.TextCounted = true // as the bytes of the wire
		return o.Unmarshal(d.Arena, data(), m)
	})
}

// UnmarshalString is Unmarshal for data that never changes: strings of m are parts of it.
func (d *Decoder) UnmarshalString(data string, m proto.Message) (inTime bool, err error) {
	return d.unmarshal(len(data), m, func(o pb.UnmarshalOptions) error {
		return o.UnmarshalString(d.Arena, data, m)
	})
}

func (d *Decoder) unmarshal(wireBytes int, m proto.Message, decode func(pb.UnmarshalOptions) error) (inTime bool, err error) {
	if !d.state.CompareAndSwap(idle, decoding) {
		return false, nil
	}
	defer d.state.Store(idle)
	d.decoded = true
	d.wireBytes += int64(wireBytes)
	if d.Scope != nil {
		defer d.Scope.StartDecoding(wireBytes).Stop()
	}
	left := int64(0)
	if most := d.Limits.RequestBytesMax; most > 0 {
		if left = most - d.wireBytes; left <= 0 {
			d.refuse(m, wireRefusal(d.Method, most, d.wireBytes))
			return true, nil
		}
		d.Arena.SetBytesMax(left)
	}
	if !d.Arena.TakeBudget(int64(wireBytes)) {
		d.refuse(m, budgetRefusal(d.Method, d.Arena.OverBudget(), int64(wireBytes)))
		return true, nil
	}
	bytesMax, byRatio := left, false
	if most := d.Limits.DecodedBytesMax(int64(wireBytes)); most > 0 {
		// The wire is part of what is decoded: the strings.
		decoded := max(most-int64(wireBytes), 1)
		taken := d.Arena.BytesTaken()
		if byRatio = left == 0 || decoded < left-taken; byRatio {
			bytesMax = decoded
			d.Arena.SetBytesMax(taken + decoded)
			defer d.Arena.SetBytesMax(left)
		}
	}
	err = decode(pb.UnmarshalOptions{Limits: pb.Limits{BytesMax: bytesMax, DepthMax: d.Limits.DepthMax}})
	var limit *pb.LimitError
	switch {
	case !errors.As(err, &limit):
		return true, err
	case byRatio && limit.Taken == 0 && limit.Limit != scope.DepthMax:
		d.refuse(m, ratioRefusal(d.Method, d.Limits, int64(wireBytes), limit))
	default:
		d.refuse(m, decodingRefusal(d.Method, d.Limits.RequestBytesMax, d.wireBytes, limit))
	}
	return true, nil
}

func (d *Decoder) refuse(m proto.Message, refusal *Refusal) {
	proto.Reset(m) // interceptors may look at it
	d.refusal = refusal
}

// Decoded reports whether the last message came to Unmarshal.
func (d *Decoder) Decoded() bool { return d.decoded }

// Refusal returns what the last message was refused for, or nil.
func (d *Decoder) Refusal() *Refusal { return d.refusal }

// Close reports whether the arena is free to be ended, which it then will be for ever.
func (d *Decoder) Close() bool { return d.state.CompareAndSwap(idle, closed) }
