package pb

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// cellValue is a map's key or value on its way: one of these, by kind.
type cellValue struct {
	number  uint64 // numbers and bool, from its first byte on
	text    string
	bytes   []byte
	pointer unsafe.Pointer
}

// at returns where a value of kind k is to be decoded to.
func (v *cellValue) at(k kind) unsafe.Pointer {
	switch k {
	case kindString:
		return unsafe.Pointer(&v.text)
	case kindBytes:
		return unsafe.Pointer(&v.bytes)
	case kindMessage:
		return unsafe.Pointer(&v.pointer)
	default:
		return unsafe.Pointer(&v.number)
	}
}

// mapEntry decodes one entry of a map field and puts it into the map.
func (d *decoder) mapEntry(f *field, p unsafe.Pointer, i, end int) int {
	if d.depth--; d.depth < 0 {
		return d.failDepth()
	}
	e := f.entry
	i, end = length(d.buf[:end], i)
	if i < 0 {
		return d.fail(errDecode)
	}
	cell := (*unsafe.Pointer)(unsafe.Add(p, f.offset))
	if *cell == nil {
		// The runtime makes room for eight at first.
		if !d.chargeOutside(mapBytes + 8*e.slotBytes) {
			return -1
		}
		*cell = e.maps.New(d.arena)
	}
	// It grows by doubling, when it is seven eighths full, and leaves what it had as garbage.
	if !d.chargeOutside(5 * e.slotBytes) {
		return -1
	}
	var key, value cellValue
	if e.value.kind == kindBytes {
		value.bytes = empty[:0:0]
	}
	buf := d.buf[:end]
	for i < end {
		tag, next := varint(buf, i)
		if next < 0 || tag>>3 == 0 || tag>>3 > uint64(protowire.MaxValidNumber) {
			return d.fail(errDecode)
		}
		i = next
		wire := uint8(tag & 7)
		switch {
		case tag>>3 == 1 && wire == e.key.wire:
			i = d.value(&e.key, key.at(e.key.kind), i, end)
		case tag>>3 == 2 && wire == e.value.wire:
			i = d.value(&e.value, value.at(e.value.kind), i, end)
		default:
			if i = skip(buf, i, tag); i < 0 {
				return d.fail(errDecode)
			}
		}
		if i < 0 {
			return i
		}
	}
	if e.value.kind == kindMessage && value.pointer == nil {
		if value.pointer = d.allocOne(e.value.sub.typ); value.pointer == nil {
			return -1
		}
		d.unsure = d.unsure || e.value.sub.needsInit
	}
	if e.float {
		float := (*uint32)(unsafe.Pointer(&value.number))
		*float = quiet(*float)
	}
	putEntry(*cell, e, &key, &value)
	d.depth++
	return end
}

// quiet makes a signaling NaN a quiet one. That is what happens to the floats of a map on their way
// through protobuf's reflection, which keeps them as float64.
func quiet(float uint32) uint32 {
	if float&0x7fffffff > 0x7f800000 {
		return float | 0x00400000
	}
	return float
}

// mapBytes is what an empty map takes beside its slots, the arena's note of it included.
const mapBytes = 256
