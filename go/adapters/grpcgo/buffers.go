package grpcgo

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/mem"
)

// buffers holds the bytes of whole messages, as they came or as they go. Unlike gRPC's own pool it does
// not zero them: that is a megabyte for a message of 40 KB. All of a buffer that is handed on was
// written first.
var buffers mem.BufferPool = new(bufferPool)

// bufferPool has buffers of the powers of two between 2^bufferBitsMin and 2^bufferBitsMax bytes.
// Longer ones are left to the garbage collector.
//
// Thread rule: any goroutine.
type bufferPool struct {
	sizes [bufferBitsMax + 1]sync.Pool
}

const (
	bufferBitsMin = 11
	bufferBitsMax = 24
)

// Get returns a buffer of that length, with anything in it.
func (p *bufferPool) Get(length int) *[]byte {
	n := max(bits.Len(uint(max(length, 1)-1)), bufferBitsMin)
	if n > bufferBitsMax {
		buffer := make([]byte, length)
		return &buffer
	}
	if buffer, ok := p.sizes[n].Get().(*[]byte); ok {
		*buffer = (*buffer)[:length]
		return buffer
	}
	buffer := make([]byte, length, 1<<n)
	return &buffer
}

// Put takes a buffer back. Those of other lengths than the pool's it leaves to the garbage collector.
func (p *bufferPool) Put(buffer *[]byte) {
	n := bits.Len(uint(cap(*buffer))) - 1
	if n >= bufferBitsMin && n <= bufferBitsMax && cap(*buffer) == 1<<n {
		p.sizes[n].Put(buffer)
	}
}
