package pb

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

// Most strings are short and ASCII. They are checked, and copied, in a few words that overlap where
// the length is no multiple of eight, without a branch for each; utf8.Valid answers for the rest.

// validUTF8 is utf8.Valid.
func validUTF8(b []byte) bool {
	n := len(b)
	var all uint64
	switch {
	case n > 64:
		return utf8.Valid(b)
	case n > 32:
		all = word(b, 0) | word(b, 8) | word(b, 16) | word(b, 24) | word(b, n-32) | word(b, n-24) | word(b, n-16) | word(b, n-8)
	case n > 16:
		all = word(b, 0) | word(b, 8) | word(b, n-16) | word(b, n-8)
	case n >= 8:
		all = word(b, 0) | word(b, n-8)
	case n >= 4:
		all = uint64(binary.LittleEndian.Uint32(b) | binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		all = uint64(b[0] | b[n/2] | b[n-1])
	}
	return all&highBits == 0 || utf8.Valid(b)
}

// copyUTF8 copies b to dst[:len(b)] and reports whether it is valid UTF-8. REQUIRES: dst is as long.
func copyUTF8(dst, b []byte) bool {
	n := len(b)
	var all uint64
	switch {
	case n > 64:
		copy(dst, b)
		return utf8.Valid(b)
	case n > 32:
		w, x, y, z := word(b, 0), word(b, 8), word(b, 16), word(b, 24)
		putWord(dst, 0, w)
		putWord(dst, 8, x)
		putWord(dst, 16, y)
		putWord(dst, 24, z)
		all = w | x | y | z
		w, x, y, z = word(b, n-32), word(b, n-24), word(b, n-16), word(b, n-8)
		putWord(dst, n-32, w)
		putWord(dst, n-24, x)
		putWord(dst, n-16, y)
		putWord(dst, n-8, z)
		all |= w | x | y | z
	case n > 16:
		w, x, y, z := word(b, 0), word(b, 8), word(b, n-16), word(b, n-8)
		putWord(dst, 0, w)
		putWord(dst, 8, x)
		putWord(dst, n-16, y)
		putWord(dst, n-8, z)
		all = w | x | y | z
	case n >= 8:
		w, x := word(b, 0), word(b, n-8)
		putWord(dst, 0, w)
		putWord(dst, n-8, x)
		all = w | x
	case n >= 4:
		w, x := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[n-4:])
		binary.LittleEndian.PutUint32(dst, w)
		binary.LittleEndian.PutUint32(dst[n-4:], x)
		all = uint64(w | x)
	case n > 0:
		w, x, y := b[0], b[n/2], b[n-1]
		dst[0], dst[n/2], dst[n-1] = w, x, y
		all = uint64(w | x | y)
	}
	return all&highBits == 0 || utf8.Valid(b)
}

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func putWord(b []byte, i int, w uint64) { binary.LittleEndian.PutUint64(b[i:], w) }

func wordAt(p unsafe.Pointer) uint64 { return word((*[8]byte)(p)[:], 0) }

func putWordAt(p unsafe.Pointer, w uint64) { putWord((*[8]byte)(p)[:], 0, w) }
