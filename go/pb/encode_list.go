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
		for list, i := unsafe.Slice((*uint32)(h.ptr), h.len), h.len-1; i >= 0; i-- {
			pos = putAnyVarint(b, pos, uint64(list[i]))
		}
	case kindInt32:
		for list, i := unsafe.Slice((*int32)(h.ptr), h.len), h.len-1; i >= 0; i-- {
			pos = putAnyVarint(b, pos, uint64(int64(list[i])))
		}
	case kindVarint64:
		for list, i := unsafe.Slice((*uint64)(h.ptr), h.len), h.len-1; i >= 0; i-- {
			pos = putAnyVarint(b, pos, list[i])
		}
	default:
		size := sizeOfNumbers[k]
		for i := h.len - 1; i >= 0; i-- {
			pos = putNumber(b, pos, k, unsafe.Add(h.ptr, uintptr(i)*size))
		}
	}
	return pos
}

// putAnyVarint is putVarint for numbers whose length nobody can predict: values of one and of two
// bytes share one way. REQUIRES: as putVarint.
func putAnyVarint(b []byte, pos int, v uint64) int {
	if v >= 1<<14 {
		return putVarint(b, pos, v)
	}
	two := (0x7f - v) >> 63 // 1 if it takes two bytes
	binary.LittleEndian.PutUint16(b[pos-2:], uint16((v&0x7f|two<<7|v>>7<<8)<<(8*(1-two))))
	return pos - 1 - int(two)
}
