// Package rawcodec lets a client send and receive bytes: a load generator that encoded and decoded
// would measure itself.
package rawcodec

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// Codec is an encoding.CodecV2 for *[]byte, and for nothing else. It has the name of protobuf's, which
// is what the peer goes by.
type Codec struct{}

// Name returns "proto".
func (Codec) Name() string { return "proto" }

// Marshal sends the bytes as they are. They must not change until the call has ended.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("rawcodec: want *[]byte, not %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal replaces the bytes with a copy of what came, in the same array if there is room.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("rawcodec: want *[]byte, not %T", v)
	}
	*b = (*b)[:0]
	for _, part := range data {
		*b = append(*b, part.ReadOnlyData()...)
	}
	return nil
}
