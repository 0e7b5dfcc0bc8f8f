package pb

import (
	"encoding/binary"
	"unsafe"
)

// list writes the elements of a list that is not empty; lists of messages have a way of their own.
func (e *encoder) list(f *field, h *sliceHeader, pos int) int {
	switch {
	case f.kind == kindString:
		list := *(*[]string)(unsafe.Pointer(h))
		for i := len(list) - 1; i >= 0; i-- {
			pos = e.lengthDelimited(f, list[i], pos)
		}
	case f.kind == kindBytes:
		list := *(*[][]byte)(unsafe.Pointer(h))
		for i := len(list) - 1; i >= 0; i-- {
			pos = e.lengthDelimited(f, unsafe.String(unsafe.SliceData(list[i]), len(list[i])), pos)
		}
	case f.sub != nil:
		list := *(*[]unsafe.Pointer)(unsafe.Pointer(h))
		for i := len(list) - 1; i >= 0; i-- {
			pos = e.value(f, unsafe.Pointer(&list[i]), pos)
		}
	case f.packed:
		before := len(e.buf) - pos
		// At most ten bytes each.
		if most := 10*h.len + fieldBytesMax; pos < most {
			pos = e.grow(pos, most)
		}
		pos = putPacked(e.buf, pos, f.kind, h)
		pos = e.length(before, pos)
		pos = putVarint(e.buf, pos, f.tag)
	default:
		size := sizeOfNumbers[f.kind]
		for i := h.len - 1; i >= 0; i-- {
			if pos < fieldBytesMax {
				pos = e.grow(pos, fieldBytesMax)
			}
			pos = putNumber(e.buf, pos, f.kind, unsafe.Add(h.ptr, uintptr(i)*size))
			pos = putVarint(e.buf, pos, f.tag)
		}
	}
	return pos
}

// putPacked writes numbers one after the other. REQUIRES: room.
func putPacked(b []byte, pos int, k kind, h *sliceHeader) int {
	if size := sizeOfNumbers[k]; littleEndian && (k == kindFixed64 || k == kindFixed32) {
		n := int(size) * h.len
		return pos - copy(b[pos-n:pos], unsafe.Slice((*byte)(h.ptr), n))
	}
	switch k {
	case kindFixed64:
		for list, i := unsafe.Slice((*uint64)(h.ptr), h.len), h.len-1; i >= 0; i-- {
			pos -= 8
			binary.LittleEndian.PutUint64(b[pos:], list[i])
		}
	case kindFixed32:
		for list, i := unsafe.Slice((*uint32)(h.ptr), h.len), h.len-1; i >= 0; i-- {
			pos -= 4
			binary.LittleEndian.PutUint32(b[pos:], list[i])
		}
	case kindUint32:
		pos = putVarints(b, pos, unsafe.Slice((*uint32)(h.ptr), h.len))
	case kindInt32:
		pos = putVarints(b, pos, unsafe.Slice((*int32)(h.ptr), h.len))
	case kindVarint64:
		pos = putVarints(b, pos, unsafe.Slice((*uint64)(h.ptr), h.len))
	default:
		size := sizeOfNumbers[k]
		for i := h.len - 1; i >= 0; i-- {
			pos = putNumber(b, pos, k, unsafe.Add(h.ptr, uintptr(i)*size))
		}
	}
	return pos
}

// putVarints writes varints one after the other, each the way of putLongVarint. REQUIRES: room.
func putVarints[T int32 | uint32 | uint64](b []byte, pos int, list []T) int {
	for i := len(list) - 1; i >= 0; i-- {
		v := uint64(list[i])
		if v >= 1<<56 {
			pos = putHugeVarint(b, pos, v)
			continue
		}
		n := varintSize(v)
		x := scatter(v) | highBits&(1<<(uint(8*n-8)&63)-1)
		binary.LittleEndian.PutUint64(b[pos-8:], x<<(uint(64-8*n)&63))
		pos -= n
	}
	return pos
}
