package grpcgo

import (
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/scope"
)

// incoming is where messages are decoded to. It waits in the table of that name while gRPC receives
// one, and the codec finds it there.
type incoming struct {
	entry handoff.Entry[*incoming]

	method string
	arena  *arena.Arena
	limits scope.Options

	wireBytes int64 // of all messages so far
	decoded   bool  // the last message came to our codec
	refused   error // the limit that it crossed

	// Guards the arena against a codec that comes late: an interceptor may return before the call
	// that it made has ended.
	state atomic.Int32
}

// States of incoming.
const (
	idle int32 = iota
	decoding
	closed
)

var incomings handoff.Table[*incoming]

// receive calls gRPC's receive, which decodes the message here if it reaches our codec.
func (in *incoming) receive(receive func(any) error, message any) error {
	in.decoded, in.refused = false, nil
	key := handoff.Key(message)
	if _, ok := message.(proto.Message); !ok || key == nil {
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

// close reports whether the arena is free to be ended, which it then will be for ever.
func (in *incoming) close() bool { return in.state.CompareAndSwap(idle, closed) }

// unmarshal is called by the codec. It reports false when it comes too late. A refusal is kept for
// receive to return: as the codec's error, gRPC would send it to the client with the code Internal.
func (in *incoming) unmarshal(data mem.BufferSlice, m proto.Message) (bool, error) {
	if !in.state.CompareAndSwap(idle, decoding) {
		return false, nil
	}
	defer in.state.Store(idle)
	in.decoded = true
	in.wireBytes += int64(data.Len())
	left := int64(0)
	if most := in.limits.RequestBytesMax; most > 0 {
		if left = most - in.wireBytes; left <= 0 {
			in.refused = refusedWire(in.method, most, in.wireBytes)
			return true, nil
		}
		in.arena.SetBytesMax(left)
	}
	options := pb.UnmarshalOptions{Limits: pb.Limits{BytesMax: left, DepthMax: in.limits.DepthMax}}
	err := options.UnmarshalString(in.arena, immutable(data), m)
	if limit := asLimit(err); limit != nil {
		in.refused = refusedDecoding(in.method, in.limits.RequestBytesMax, in.wireBytes, limit)
		return true, nil
	}
	return true, err
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
