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

// varints fills out from b[i:] and returns the position after it, or a negative number. It takes two
// at a time where they end in the next eight bytes: how long each of them is costs no branch, which in
// a list of coordinates, say, nobody could predict.
func varints[T uint32 | uint64](out []T, b []byte, i int) int {
	for len(out) >= 2 && i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		ends := ^x & highBits
		others := ends & (ends - 1)
		if others == 0 { // five bytes or more
			v, next := longVarint(b, i)
			if next < 0 {
				return next
			}
			out[0], out, i = T(v), out[1:], next
			continue
		}
		to := bits.TrailingZeros64(ends) + 1
		out[0] = T(gather(x & (ends ^ (ends - 1))))
		out[1] = T(gather(x & (others ^ (others - 1)) >> (uint(to) & 63)))
		out, i = out[2:], i+(bits.TrailingZeros64(others)+1)/8
	}
	for j := range out {
		v, next := longVarint(b, i)
		if next < 0 {
			return next
		}
		out[j], i = T(v), next
	}
	return i
}
