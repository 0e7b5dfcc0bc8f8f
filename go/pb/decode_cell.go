package pb

import (
	"encoding/binary"
	"unsafe"
)

// member decodes a member of a oneof: into the wrapper that is there if it is the member's, or into a
// new one.
// REQUIRES: the wire type is the field's.
func (d *decoder) member(f *field, p unsafe.Pointer, i, end int) int {
	words := (*interfaceWords)(unsafe.Add(p, f.offset))
	if words.itab == f.oneof.itab && words.data != nil {
		return d.value(f, words.data, i, end)
	}
	wrapper := d.allocOne(f.elem)
	if wrapper == nil {
		return -1
	}
	if i = d.value(f, wrapper, i, end); i >= 0 {
		words.itab, words.data = f.oneof.itab, wrapper
	}
	return i
}

// value decodes one value of the field's kind into memory of that kind.
func (d *decoder) value(f *field, at unsafe.Pointer, i, end int) int {
	buf := d.buf[:end]
	switch f.kind {
	case kindFixed32:
		if len(buf)-i < 4 {
			return d.fail(errDecode)
		}
		*(*uint32)(at) = binary.LittleEndian.Uint32(buf[i:])
		return i + 4
	case kindFixed64:
		if len(buf)-i < 8 {
			return d.fail(errDecode)
		}
		*(*uint64)(at) = binary.LittleEndian.Uint64(buf[i:])
		return i + 8
	case kindString:
		return d.string(f, (*string)(at), i, end)
	case kindBytes:
		from, to := length(buf, i)
		if from < 0 {
			return d.fail(errDecode)
		}
		return d.bytes(f, (*[]byte)(at), from, to)
	case kindMessage, kindGroup:
		message := d.behind(at, f.sub.typ)
		if message == nil {
			return -1
		}
		if f.kind == kindGroup {
			return d.message(f.sub, message, i, end, f.number)
		}
		from, to := length(buf, i)
		if from < 0 {
			return d.fail(errDecode)
		}
		return d.message(f.sub, message, from, to, 0)
	default:
		v, next := varint(buf, i)
		if next < 0 {
			return d.fail(errDecode)
		}
		storeVarint(f.kind, at, v)
		return next
	}
}
