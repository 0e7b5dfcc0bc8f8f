package pb

import (
	"encoding/binary"
	"unsafe"

	"github.com/harena-project/harena/go/arena"
)

// header returns the slice header of a list field, made where it lies behind a pointer.
func (d *decoder) header(f *field, p unsafe.Pointer) *sliceHeader {
	at := unsafe.Add(p, f.offset)
	if !f.indirect {
		return (*sliceHeader)(at)
	}
	return (*sliceHeader)(d.behind(at, f.sub.lists))
}

// reserve makes room for n more elements. The slice has no more capacity than was asked for the
// first time, so that the user's append cannot run into a neighbour; after that it doubles.
func (d *decoder) reserve(h *sliceHeader, t *arena.Type, k kind, n int) bool {
	if n <= h.cap-h.len {
		return true
	}
	capacity := h.len + n
	if h.cap > 0 {
		capacity = max(capacity, 2*h.cap)
	}
	ptr := d.alloc(t, capacity)
	if ptr == nil {
		return false
	}
	if h.len > 0 {
		moveElements(ptr, capacity, h, t, k)
	}
	h.ptr, h.cap = ptr, capacity
	return true
}

// moveElements copies the elements of a list to a larger array.
func moveElements(ptr unsafe.Pointer, capacity int, h *sliceHeader, t *arena.Type, k kind) {
	old := sliceHeader{h.ptr, h.len, h.len}
	switch k { // typed, so that the garbage collector sees the pointers move
	case kindString:
		copy(unsafe.Slice((*string)(ptr), capacity), *(*[]string)(unsafe.Pointer(&old)))
	case kindBytes:
		copy(unsafe.Slice((*[]byte)(ptr), capacity), *(*[][]byte)(unsafe.Pointer(&old)))
	case kindMessage, kindGroup:
		copy(unsafe.Slice((*unsafe.Pointer)(ptr), capacity), *(*[]unsafe.Pointer)(unsafe.Pointer(&old)))
	default:
		size := t.Size()
		copy(unsafe.Slice((*byte)(ptr), uintptr(capacity)*size), unsafe.Slice((*byte)(old.ptr), uintptr(old.len)*size))
	}
}

// messageList decodes a run of messages. The list is made when their number is known, in one piece.
// buf[start:i] is the first tag.
func (d *decoder) messageList(f *field, p unsafe.Pointer, start, i, end int) int {
	buf := d.buf[:end]
	width := i - start
	first := len(d.elements)
	each := int64(f.elem.Size()) + placeBytes
	if d.left < (int64(end-i)/2+1)*each {
		// They may be too many: a message takes two bytes of the input or more. Better to know it before
		// the first of them is made.
		all := int64(runLength(buf, start, i)) * each
		if !d.charge(all) {
			return -1
		}
		d.left += all
	}
	for {
		from, to := length(buf, i)
		if from < 0 {
			return d.fail(errDecode)
		}
		if !d.charge(placeBytes) { // in the list
			return -1
		}
		elem := d.allocOne(f.elem)
		if elem == nil {
			return -1
		}
		d.elements = append(d.elements, elem)
		if i = d.message(f.sub, elem, from, to, 0); i < 0 {
			return i
		}
		if !sameTag(buf, start, i, width) {
			break
		}
		i += width
	}
	h := d.header(f, p)
	if h == nil {
		return -1
	}
	complete := d.elements[first:]
	d.left += int64(len(complete)) * placeBytes // reserve charges for all of them
	if !d.reserve(h, f.sub.pointers, kindMessage, len(complete)) {
		return -1
	}
	copy(unsafe.Slice((*unsafe.Pointer)(h.ptr), h.cap)[h.len:], complete)
	h.len += len(complete)
	d.elementsPeak = max(d.elementsPeak, len(d.elements))
	d.elements = d.elements[:first]
	return i
}

const placeBytes = int64(unsafe.Sizeof(unsafe.Pointer(nil)))

// emptied returns the memory of elements for the next message, unless that were much.
func (d *decoder) emptied() []unsafe.Pointer {
	used := max(d.elementsPeak, len(d.elements))
	if used > elementsMax {
		return nil
	}
	clear(d.elements[:used])
	return d.elements[:0]
}

// elementsMax bounds what is kept for the next message.
const elementsMax = 16 << 10

// groupList decodes one group of a list.
func (d *decoder) groupList(f *field, p unsafe.Pointer, i, end int) int {
	h := d.header(f, p)
	if h == nil || !d.reserve(h, f.sub.pointers, kindGroup, 1) {
		return -1
	}
	elem := d.allocOne(f.elem)
	if elem == nil {
		return -1
	}
	if i = d.message(f.sub, elem, i, end, f.number); i < 0 {
		return i
	}
	unsafe.Slice((*unsafe.Pointer)(h.ptr), h.cap)[h.len] = elem
	h.len++
	return i
}

// textList decodes a run of strings or bytes.
func (d *decoder) textList(f *field, p unsafe.Pointer, start, i, end int) int {
	width := i - start
	n := runLength(d.buf[:end], start, i)
	h := d.header(f, p)
	if h == nil || !d.reserve(h, f.elem, f.kind, n) {
		return -1
	}
	for k := 0; ; {
		at := unsafe.Add(h.ptr, uintptr(h.len)*f.elem.Size())
		if f.kind == kindString {
			i = d.string(f, (*string)(at), i, end)
		} else {
			from, to := length(d.buf[:end], i)
			if from < 0 {
				return d.fail(errDecode)
			}
			i = d.bytes(f, (*[]byte)(at), from, to)
		}
		if i < 0 {
			return i
		}
		h.len++
		if k++; k == n {
			return i
		}
		i += width
	}
}

// scalarList decodes a run of numbers, or one packed field of them.
func (d *decoder) scalarList(f *field, p unsafe.Pointer, start, i, end int) int {
	h := (*sliceHeader)(unsafe.Add(p, f.offset))
	if d.buf[start]&7 == wireBytes {
		from, to := length(d.buf[:end], i)
		if from < 0 {
			return d.fail(errDecode)
		}
		return d.packed(f, h, from, to)
	}
	width := i - start
	n := runLength(d.buf[:end], start, i)
	if !d.reserve(h, f.elem, f.kind, n) {
		return -1
	}
	for k := 0; ; {
		if i = d.value(f, unsafe.Add(h.ptr, uintptr(h.len)*f.elem.Size()), i, end); i < 0 {
			return i
		}
		h.len++
		if k++; k == n {
			return i
		}
		i += width
	}
}

// packed decodes the numbers in buf[i:end].
func (d *decoder) packed(f *field, h *sliceHeader, i, end int) int {
	buf := d.buf[:end]
	var n int
	switch f.kind {
	case kindFixed32:
		n = (end - i) / 4
	case kindFixed64:
		n = (end - i) / 8
	default:
		n = countVarints(buf[i:])
	}
	if n == 0 {
		if i < end {
			return d.fail(errDecode)
		}
		return end
	}
	if !d.reserve(h, f.elem, f.kind, n) {
		return -1
	}
	first := unsafe.Add(h.ptr, uintptr(h.len)*f.elem.Size())
	switch f.kind {
	case kindFixed32:
		if end-i != 4*n {
			return d.fail(errDecode)
		}
		if littleEndian {
			copy(unsafe.Slice((*byte)(first), 4*n), buf[i:])
			break
		}
		for in, out := buf[i:], unsafe.Slice((*uint32)(first), n); len(out) > 0 && len(in) >= 4; in, out = in[4:], out[1:] {
			out[0] = binary.LittleEndian.Uint32(in)
		}
	case kindFixed64:
		if end-i != 8*n {
			return d.fail(errDecode)
		}
		if littleEndian {
			copy(unsafe.Slice((*byte)(first), 8*n), buf[i:])
			break
		}
		for in, out := buf[i:], unsafe.Slice((*uint64)(first), n); len(out) > 0 && len(in) >= 8; in, out = in[8:], out[1:] {
			out[0] = binary.LittleEndian.Uint64(in)
		}
	default:
		if i = d.packedVarints(f.kind, first, n, i, end); i < 0 {
			return i
		}
	}
	h.len += n
	return end
}
