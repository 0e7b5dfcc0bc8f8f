package pb

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/runtime/protoimpl"
)

// The encoder's functions take the position down to which the buffer is written and return the new
// one. They keep it in a register; e.buf is read again after every call that may have grown it.

// message writes the fields of the struct at p, the last one first.
func (e *encoder) message(t *table, p unsafe.Pointer, pos int) int {
	if p == nil {
		e.unsure = e.unsure || t.needsInit
		return pos
	}
	if t.special && e.needsProto(t, p) {
		return e.byProto(t, p, pos)
	}
	if len(t.required) > 0 && t.lacks(p) {
		e.unsure = true
	}
	if t.unknownOffset != noOffset {
		if unknown := *(*[]byte)(unsafe.Add(p, t.unknownOffset)); len(unknown) > 0 {
			pos = e.raw(unknown, pos)
		}
	}
	buf := e.buf
	for i := len(t.ordered) - 1; i >= 0; i-- {
		f := &t.ordered[i]
		at := unsafe.Add(p, f.offset)
		if !f.plain {
			if f.hasBit && !t.present(p, f.bit) {
				continue
			}
			if f.deref {
				if at = *(*unsafe.Pointer)(at); at == nil {
					continue
				}
			}
		}
		if pos < fieldBytesMax {
			pos = e.grow(pos, fieldBytesMax)
			buf = e.buf
		}
		switch f.op {
		case opString:
			s := *(*string)(at)
			if s == "" && f.implicit {
				continue
			}
			n := len(s)
			if pos < n+fieldBytesMax {
				pos = e.grow(pos, n+fieldBytesMax)
				buf = e.buf
			}
			pos -= n
			if uint(n-8) > wordsBytes-8 {
				if !copyUTF8(buf[pos:], bytesOf(s)) && f.utf8 {
					e.err = errUTF8
					return pos
				}
			} else {
				// copyUTF8 of that length; a call of it would be much of its cost.
				src, dst := unsafe.Pointer(unsafe.StringData(s)), unsafe.Pointer(&buf[pos])
				w, x := wordAt(src), wordAt(unsafe.Add(src, n-8))
				putWordAt(dst, w)
				putWordAt(unsafe.Add(dst, n-8), x)
				high := w | x
				if n > 16 {
					w, x = wordAt(unsafe.Add(src, 8)), wordAt(unsafe.Add(src, n-16))
					putWordAt(unsafe.Add(dst, 8), w)
					putWordAt(unsafe.Add(dst, n-16), x)
					high |= w | x
					if n > 32 {
						w, x, y, z := wordAt(unsafe.Add(src, 16)), wordAt(unsafe.Add(src, 24)), wordAt(unsafe.Add(src, n-32)), wordAt(unsafe.Add(src, n-24))
						putWordAt(unsafe.Add(dst, 16), w)
						putWordAt(unsafe.Add(dst, 24), x)
						putWordAt(unsafe.Add(dst, n-32), y)
						putWordAt(unsafe.Add(dst, n-24), z)
						high |= w | x | y | z
					}
				}
				if high&highBits != 0 && f.utf8 && !utf8.ValidString(s) {
					e.err = errUTF8
					return pos
				}
			}
			if n < 0x80 {
				pos--
				buf[pos] = byte(n)
			} else {
				pos = putVarint(buf, pos, uint64(n))
			}
		case opVarint64:
			v := *(*uint64)(at)
			if v == 0 && f.implicit {
				continue
			}
			if v < 0x80 {
				pos--
				buf[pos] = byte(v)
			} else {
				pos = putVarint(buf, pos, v)
			}
		case opVarint32:
			v := *(*uint32)(at)
			if v == 0 && f.implicit {
				continue
			}
			switch {
			case v < 0x80:
				pos--
				buf[pos] = byte(v)
			case f.kind == kindInt32:
				pos = putVarint(buf, pos, uint64(int64(int32(v))))
			default:
				pos = putVarint(buf, pos, uint64(v))
			}
		case opFixed64:
			v := *(*uint64)(at)
			if v == 0 && f.implicit {
				continue
			}
			pos -= 8
			binary.LittleEndian.PutUint64(buf[pos:], v)
		case opFixed32:
			v := *(*uint32)(at)
			if v == 0 && f.implicit {
				continue
			}
			pos -= 4
			binary.LittleEndian.PutUint32(buf[pos:], v)
		case opBool:
			v := *(*uint8)(at)
			if v == 0 && f.implicit {
				continue
			}
			pos--
			buf[pos] = v
		case opSint32, opSint64:
			before := pos
			if pos = putNumber(buf, pos, f.kind, at); buf[pos] == 0 && before-pos == 1 && f.implicit {
				pos = before
				continue
			}
		case opMessage:
			before := len(buf) - pos
			pos = e.message(f.field.sub, at, pos)
			pos = e.length(before, pos)
			buf = e.buf
		case opMessageList:
			if pos = e.messageList(f.field, at, pos); e.err != nil {
				return pos
			}
			buf = e.buf
			continue
		case opScalarList, opStringList, opBytesList:
			h := (*sliceHeader)(at)
			if h.len == 0 {
				continue
			}
			pos = e.list(f.field, h, pos)
			buf = e.buf
			continue
		case opBytes:
			if h := (*sliceHeader)(at); h.len == 0 && (f.implicit || !f.hasBit && h.ptr == nil) {
				continue
			}
			pos = e.lengthDelimited(f.field, *(*string)(at), pos) // bytes begin as a string does
			buf = e.buf
			continue
		default:
			pos = e.other(f.field, at, pos)
			buf = e.buf
			continue
		}
		if f.short {
			pos--
			buf[pos] = byte(f.tag)
		} else {
			pos = putVarint(buf, pos, f.tag)
		}
	}
	return pos
}

// length writes how much was written since the buffer held `before` bytes, and makes room for a tag.
func (e *encoder) length(before, pos int) int {
	if pos < fieldBytesMax {
		pos = e.grow(pos, fieldBytesMax)
	}
	return putVarint(e.buf, pos, uint64(len(e.buf)-pos-before))
}

// messageList writes a list of messages. at is the field.
func (e *encoder) messageList(f *field, at unsafe.Pointer, pos int) int {
	if f.indirect {
		if at = *(*unsafe.Pointer)(at); at == nil {
			return pos
		}
	}
	list := *(*[]unsafe.Pointer)(at)
	for i := len(list) - 1; i >= 0; i-- {
		before := len(e.buf) - pos
		pos = e.message(f.sub, list[i], pos)
		n := uint64(len(e.buf) - pos - before)
		if pos < fieldBytesMax {
			pos = e.grow(pos, fieldBytesMax)
		}
		buf := e.buf
		if n < 0x80 {
			pos--
			buf[pos] = byte(n)
		} else {
			pos = putLongVarint(buf, pos, n)
		}
		if f.tag < 0x80 {
			pos--
			buf[pos] = byte(f.tag)
		} else {
			pos = putLongVarint(buf, pos, f.tag)
		}
	}
	return pos
}

// other writes the fields of the less usual kinds. at is the field, or what it points to.
func (e *encoder) other(f *field, at unsafe.Pointer, pos int) int {
	switch f.op {
	case opGroup:
		return e.value(f, unsafe.Pointer(&at), pos)
	case opMember:
		words := (*interfaceWords)(at)
		if words.itab == nil || words.data == nil {
			return pos
		}
		for i := range f.oneof.members {
			if member := &f.oneof.members[i]; member.itab == words.itab {
				return e.value(member.field, words.data, pos)
			}
		}
		if member := f.oneof.memberOf(at); member != nil {
			return e.value(member, words.data, pos)
		}
	case opMap:
		if m := *(*unsafe.Pointer)(at); m != nil {
			return e.entries(f, m, pos)
		}
	default:
		if f.indirect {
			if at = *(*unsafe.Pointer)(at); at == nil {
				return pos
			}
		}
		if h := (*sliceHeader)(at); h.len > 0 {
			return e.list(f, h, pos)
		}
	}
	return pos
}

// value writes one value with its tag.
func (e *encoder) value(f *field, at unsafe.Pointer, pos int) int {
	switch f.kind {
	case kindString, kindBytes:
		return e.lengthDelimited(f, *(*string)(at), pos) // bytes begin as a string does
	case kindMessage:
		before := len(e.buf) - pos
		pos = e.message(f.sub, *(*unsafe.Pointer)(at), pos)
		pos = e.length(before, pos)
	case kindGroup:
		if pos < fieldBytesMax {
			pos = e.grow(pos, fieldBytesMax)
		}
		pos = putVarint(e.buf, pos, f.tag+1)
		if pos = e.message(f.sub, *(*unsafe.Pointer)(at), pos); pos < fieldBytesMax {
			pos = e.grow(pos, fieldBytesMax)
		}
	default:
		if pos < fieldBytesMax {
			pos = e.grow(pos, fieldBytesMax)
		}
		pos = putNumber(e.buf, pos, f.kind, at)
	}
	return putVarint(e.buf, pos, f.tag)
}

func (e *encoder) lengthDelimited(f *field, s string, pos int) int {
	if pos < len(s)+fieldBytesMax {
		pos = e.grow(pos, len(s)+fieldBytesMax)
	}
	pos -= len(s)
	if f.kind == kindBytes {
		copy(e.buf[pos:], s)
	} else if !copyUTF8(e.buf[pos:], bytesOf(s)) && f.utf8 {
		e.err = errUTF8
		return pos
	}
	pos = putVarint(e.buf, pos, uint64(len(s)))
	return putVarint(e.buf, pos, f.tag)
}

// raw writes bytes as they are.
func (e *encoder) raw(b []byte, pos int) int {
	if pos < len(b) {
		pos = e.grow(pos, len(b))
	}
	pos -= len(b)
	copy(e.buf[pos:], b)
	return pos
}

// needsProto reports whether protobuf has to write the message: it has no table, it has extensions,
// or it holds fields that were not decoded yet.
func (e *encoder) needsProto(t *table, p unsafe.Pointer) bool {
	return t.fallback != "" ||
		t.extensionOffset != noOffset && len(*(*protoimpl.ExtensionFields)(unsafe.Add(p, t.extensionOffset))) > 0 ||
		t.lazyOffset != noOffset && *(*unsafe.Pointer)(unsafe.Add(p, t.lazyOffset)) != nil
}

func (e *encoder) byProto(t *table, p unsafe.Pointer, pos int) int {
	e.unsure = e.unsure || t.needsInit
	b, err := proto.MarshalOptions{AllowPartial: true, Deterministic: e.deterministic}.Marshal(t.messageOf(p))
	if err != nil {
		e.err = err
		return pos
	}
	return e.raw(b, pos)
}

// putNumber writes one number before b[pos]. REQUIRES: room.
func putNumber(b []byte, pos int, k kind, at unsafe.Pointer) int {
	switch k {
	case kindBool:
		return putVarint(b, pos, uint64(*(*uint8)(at)))
	case kindInt32:
		return putVarint(b, pos, uint64(int64(*(*int32)(at))))
	case kindUint32:
		return putVarint(b, pos, uint64(*(*uint32)(at)))
	case kindVarint64:
		return putVarint(b, pos, *(*uint64)(at))
	case kindSint32:
		return putVarint(b, pos, protowire.EncodeZigZag(int64(*(*int32)(at))))
	case kindSint64:
		return putVarint(b, pos, protowire.EncodeZigZag(*(*int64)(at)))
	case kindFixed32:
		binary.LittleEndian.PutUint32(b[pos-4:], *(*uint32)(at))
		return pos - 4
	default:
		binary.LittleEndian.PutUint64(b[pos-8:], *(*uint64)(at))
		return pos - 8
	}
}

// putVarint writes a varint before b[pos]. REQUIRES: room for eight bytes more than it takes.
func putVarint(b []byte, pos int, v uint64) int {
	if v < 0x80 {
		b[pos-1] = byte(v)
		return pos - 1
	}
	return putLongVarint(b, pos, v)
}

// putLongVarint is putVarint for values that are hardly ever of one byte, and whose length nobody can
// predict. It has no branch that depends on how many bytes the value takes, up to eight: they are
// written at once, so that they end at pos. What lies before them is written later.
func putLongVarint(b []byte, pos int, v uint64) int {
	if v >= 1<<56 {
		return putHugeVarint(b, pos, v)
	}
	n := varintSize(v)
	x := scatter(v) | highBits&(1<<(uint(8*n-8)&63)-1)
	binary.LittleEndian.PutUint64(b[pos-8:], x<<(uint(64-8*n)&63))
	return pos - n
}

func putHugeVarint(b []byte, pos int, v uint64) int {
	pos -= varintSize(v)
	i := pos
	for ; v >= 0x80; v >>= 7 {
		b[i] = byte(v) | 0x80
		i++
	}
	b[i] = byte(v)
	return pos
}

// scatter spreads 56 bits over eight bytes, seven to a byte: the opposite of gather.
func scatter(v uint64) uint64 {
	v = v&0x0000000fffffff | v&0xfffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	return v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
}
