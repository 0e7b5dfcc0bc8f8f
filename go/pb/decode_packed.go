package pb

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// packedVarints decodes the n varints in buf[i:end] into the array at first. n was counted, by their
// last bytes: none of them reaches beyond end.
func (d *decoder) packedVarints(k kind, first unsafe.Pointer, n, i, end int) int {
	buf := d.buf
	switch k {
	case kindInt32, kindUint32:
		i = varints(unsafe.Slice((*uint32)(first), n), buf, i)
	case kindVarint64:
		i = varints(unsafe.Slice((*uint64)(first), n), buf, i)
	default:
		size := typeOfKind[k].Size()
		for j := 0; j < n && i >= 0; j++ {
			var v uint64
			if v, i = longVarint(buf, i); i >= 0 {
				storeVarint(k, unsafe.Add(first, uintptr(j)*size), v)
			}
		}
	}
	if i != end {
		return d.fail(errDecode)
	}
	return end
}

// varints fills out from b[i:] and returns the position after it, or a negative number. It takes as
// many varints as end in the next eight bytes at a time: how long each of them is costs no branch,
// which in a list of coordinates, say, nobody could predict.
func varints[T uint32 | uint64](out []T, b []byte, i int) int {
	for len(out) > 0 && i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		ends := ^x & highBits
		if ends == 0 { // nine or ten bytes
			v, next := varint(b, i)
			if next < 0 {
				return next
			}
			out[0], out, i = T(v), out[1:], next
			continue
		}
		n, from := 0, 0
		for ; ends != 0 && n < len(out); ends &= ends - 1 {
			to := bits.TrailingZeros64(ends) + 1
			out[n] = T(gather(x << (64 - to) >> (64 - to + from)))
			from = to
			n++
		}
		out, i = out[n:], i+from/8
	}
	for j := range out {
		v, next := varint(b, i)
		if next < 0 {
			return next
		}
		out[j], i = T(v), next
	}
	return i
}
