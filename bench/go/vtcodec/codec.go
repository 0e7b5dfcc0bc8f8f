// Package vtcodec is gRPC's "proto" codec on vtprotobuf's generated methods: the way its own README
// shows, in the form that grpc-go's current codec interface has.
package vtcodec

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// message is what vtprotobuf generates.
type message interface {
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

// Codec is an encoding.CodecV2 for messages with vtprotobuf's methods, and for no others.
type Codec struct{}

// Name returns "proto".
func (Codec) Name() string { return "proto" }

// Marshal encodes into a buffer of gRPC's pool, as grpc-go's own codec does.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(message)
	if !ok {
		return nil, fmt.Errorf("vtcodec: %T has no methods of vtprotobuf", v)
	}
	size := m.SizeVT()
	if mem.IsBelowBufferPoolingThreshold(size) {
		buffer := make([]byte, size)
		if _, err := m.MarshalToSizedBufferVT(buffer); err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(buffer)}, nil
	}
	pool := mem.DefaultBufferPool()
	buffer := pool.Get(size)
	if _, err := m.MarshalToSizedBufferVT((*buffer)[:size]); err != nil {
		pool.Put(buffer)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buffer, pool)}, nil
}

// Unmarshal decodes from a buffer of gRPC's pool, as grpc-go's own codec does.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(message)
	if !ok {
		return fmt.Errorf("vtcodec: %T has no methods of vtprotobuf", v)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	return m.UnmarshalVT(buffer.ReadOnlyData())
}
