package pb

import (
	"math/bits"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

// MarshalOptions are protobuf's. The zero value does what [Marshal] does.
type MarshalOptions struct {
	// Deterministic sorts the entries of maps, as protobuf's option of that name does, so that equal
	// messages give equal bytes in one version of the program.
	Deterministic bool
	// AllowPartial accepts messages that lack required fields.
	AllowPartial bool
}

// Marshal returns the wire form of m: the bytes that proto.Marshal would return, up to the order of
// the entries in a map. It allocates the result and nothing else, whatever m consists of, unless
// parts of m are left to protobuf (see [Explain]). m may lie in an arena, on the heap or in both.
//
// Thread rule: m must not change meanwhile; any number of goroutines may read it.
//
// Errors: errors.Is(err, proto.Error) where proto.Marshal fails: a missing required field, a string
// that is not UTF-8.
func Marshal(m proto.Message) ([]byte, error) {
	return MarshalOptions{}.Marshal(m)
}

// Marshal is the function of the same name with options.
func (o MarshalOptions) Marshal(m proto.Message) ([]byte, error) {
	if m == nil {
		return nil, nil
	}
	out, err := o.MarshalAppend(nil, m)
	if out == nil && err == nil && m.ProtoReflect().IsValid() {
		out = empty[:0:0]
	}
	return out, err
}

// MarshalAppend appends the wire form of m to b. On an error it returns b as it was.
func (o MarshalOptions) MarshalAppend(b []byte, m proto.Message) ([]byte, error) {
	if m == nil {
		return b, nil
	}
	reflection := m.ProtoReflect()
	if !reflection.IsValid() {
		return b, nil
	}
	t, m := resolve(m)
	if t.goType == nil {
		return proto.MarshalOptions{Deterministic: o.Deterministic, AllowPartial: o.AllowPartial}.MarshalAppend(b, m)
	}
	return o.appendTable(b, t, m)
}

// appendTable appends the wire form of a message whose table is known.
func (o MarshalOptions) appendTable(b []byte, t *table, m proto.Message) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.deterministic = o.Deterministic
	pos := e.message(t, pointerOf(m), len(e.buf))
	err := e.err
	if err == nil && e.unsure && t.needsInit && !o.AllowPartial {
		err = proto.CheckInitialized(m)
	}
	if err == nil && pos < len(e.buf) {
		b = append(b, e.buf[pos:]...)
	}
	e.err, e.unsure = nil, false
	if len(e.buf) <= scratchBytesMax {
		encoders.Put(e)
	}
	return b, err
}

// scratchBytesMax bounds the buffers that are kept for the next message.
const scratchBytesMax = 4 << 20

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// encoder is one call of Marshal. It writes backwards, from the end of the buffer: the length of a
// sub-message is known when the sub-message has been written, and no pass over the message is needed
// to find the lengths beforehand. (The way of upb's encoder.)
type encoder struct {
	buf           []byte
	deterministic bool
	unsure        bool // something required may be missing
	err           error
}

// grow makes room for n bytes before pos and returns where pos has moved to.
func (e *encoder) grow(pos, n int) int {
	written := e.buf[pos:]
	grown := make([]byte, max(2*len(e.buf), len(written)+n, 1<<10))
	pos = len(grown) - len(written)
	copy(grown[pos:], written)
	e.buf = grown
	return pos
}

// fieldBytesMax is more than a tag and a number, or a tag and a length, take, with what putVarint needs.
const fieldBytesMax = 32

func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func varintSize(v uint64) int { return int(9*uint32(bits.Len64(v))+64) / 64 }
