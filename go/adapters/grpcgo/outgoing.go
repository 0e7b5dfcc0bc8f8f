package grpcgo

import (
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/scope"
)

// outgoing is a message on its way to the codec. It waits in the table of that name.
type outgoing struct {
	entry handoff.Entry[*outgoing]
	size  *atomic.Int64 // of the last message of its kind, in bytes

	// The rest is for the reply of a unary RPC, which owns the scope.
	scope   *scope.Scope
	watched bool
	lost    runtime.Cleanup
}

var outgoings handoff.Table[*outgoing]

// put makes the codec find the message, if it is one.
func (o *outgoing) put(message any) {
	key := handoff.Key(message)
	if _, ok := message.(proto.Message); !ok || key == nil {
		return
	}
	o.entry.Value = o
	outgoings.Put(key, &o.entry)
}

// remove undoes put. It may be called in any case.
func (o *outgoing) remove(message any) {
	if key := handoff.Key(message); key != nil {
		outgoings.Remove(key, &o.entry)
	}
}

// marshal is called by the codec. It ends the scope when the message is not needed any more: once it
// is encoded, unless a stats handler may look at it. Then it is when gRPC gives the encoded bytes
// back, which is after the stats handlers were called.
func (o *outgoing) marshal(m proto.Message) (mem.BufferSlice, error) {
	pool := buffers
	guess := int(o.size.Load())
	if o.watched {
		pool = o
		guess = max(guess, countedBytesMin)
	}
	var timer scope.StepTimer
	if o.scope != nil {
		timer = o.scope.StartEncoding()
	}
	data, size, err := encode(m, guess, pool)
	timer.Stop()
	if err != nil {
		if o.scope != nil {
			o.scope.Abandon()
		}
		return nil, err
	}
	if o.watched {
		// gRPC may lose a buffer when the client goes away at the wrong moment.
		o.lost = o.scope.OnLost()
	} else {
		o.end()
	}
	o.size.Store(int64(size))
	return data, nil
}

// countedBytesMin is above gRPC's threshold, below which it does not count who refers to a buffer and
// does not say when it is done with it.
const countedBytesMin = 2 << 10

// encode returns the wire form of m in a buffer of the pool, and its size.
func encode(m proto.Message, guess int, pool mem.BufferPool) (mem.BufferSlice, int, error) {
	if mem.IsBelowBufferPoolingThreshold(guess) {
		out, err := pb.Marshal(m)
		return mem.BufferSlice{mem.SliceBuffer(out)}, len(out), err
	}
	buffer := buffers.Get(guess)
	out, err := pb.MarshalOptions{}.MarshalAppend((*buffer)[:0], m)
	if err != nil || cap(out) > cap(*buffer) {
		buffers.Put(buffer)
		buffer = new([]byte)
	}
	if err != nil {
		return nil, 0, err
	}
	*buffer = out
	return mem.BufferSlice{mem.NewBuffer(buffer, pool)}, len(out), nil
}

func (o *outgoing) end() {
	if o.scope != nil {
		o.scope.End()
	}
}

// Get is here because a [mem.BufferPool] has it. gRPC calls only Put of a buffer's own pool.
func (o *outgoing) Get(length int) *[]byte { return buffers.Get(length) }

// Put is called by gRPC when nobody refers to the encoded bytes any more.
func (o *outgoing) Put(buffer *[]byte) {
	o.lost.Stop()
	o.end()
	buffers.Put(buffer)
}
