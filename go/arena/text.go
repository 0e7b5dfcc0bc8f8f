package arena

import (
	"reflect"
	"strings"
	"unsafe"
)

const (
	textChunkBytes = 16 << 10
	// Longer strings get memory of their own.
	textSharedBytesMax = 1 << 10
)

// text holds the strings. Its memory is written once and never again: a string is valid as long as
// somebody holds it, and a chunk lives as long as one of its strings. Only the rest of the current
// chunk is carried over a reset.
type text struct {
	rest  []byte
	bytes uintptr // since the last reset
}

// String returns a copy of s in memory that the arena never reuses: valid for ever, whatever happens
// to the arena. Strings of up to 1 KiB share chunks of 16 KiB, and one of them keeps its chunk
// alive; use strings.Clone on those that are kept for long. It panics with a *[LimitError] beyond
// the arena's bound.
func (a *Arena) String(s string) string {
	st := a.ready()
	if s == "" {
		return ""
	}
	allowed := st.charge(uintptr(len(s)))
	if !allowed {
		st.spill(int64(len(s)))
	}
	t := &st.text
	t.bytes += uintptr(len(s))
	if !allowed || len(s) > textSharedBytesMax {
		return strings.Clone(s)
	}
	if len(s) > len(t.rest) {
		t.rest = make([]byte, textChunkBytes)
	}
	copied := t.rest[:copy(t.rest, s)]
	t.rest = t.rest[len(copied):]
	return unsafe.String(unsafe.SliceData(copied), len(copied))
}

var byteType = TypeOf(reflect.TypeFor[byte]())

// Bytes returns a copy of b in the arena, with no room to spare; nil stays nil. Unlike
// [Arena.String]'s it is under the lifetime rule of the arena. It panics with a *[LimitError] beyond
// the arena's bound.
func (a *Arena) Bytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	copied := makeSlice[byte](a, byteType, len(b), len(b))
	copy(copied, b)
	return copied
}
