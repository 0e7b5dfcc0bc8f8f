package pb

import (
	"unsafe"
)

// A Go map type of a field is map[K]V with K one of bool, string and the numbers of four and eight
// bytes, and V one of these, []byte, or a pointer. Maps are accessed here as the map type of the same
// shape that stands for the field's: map[int32]Color as map[uint32]uint32, map[string]*Message as
// map[string]unsafe.Pointer. The runtime hashes and lays out a map by size and kind of its key and
// by size and pointers of its value, which are the same by construction; the map itself is made with
// its own type. TestMapShapes holds the assumption, for every pair.

// putEntry stores an entry.
func putEntry(m unsafe.Pointer, e *entry, key, value *cellValue) {
	switch e.key.kind {
	case kindString:
		putValue(m, e, key.text, value)
	case kindBool:
		putValue(m, e, *(*bool)(unsafe.Pointer(&key.number)), value)
	case kindVarint64, kindSint64, kindFixed64:
		putValue(m, e, key.number, value)
	default:
		putValue(m, e, *(*uint32)(unsafe.Pointer(&key.number)), value)
	}
}

func putValue[K comparable](m unsafe.Pointer, e *entry, key K, value *cellValue) {
	switch e.value.kind {
	case kindString:
		(*(*map[K]string)(unsafe.Pointer(&m)))[key] = value.text
	case kindBytes:
		(*(*map[K][]byte)(unsafe.Pointer(&m)))[key] = value.bytes
	case kindMessage:
		(*(*map[K]unsafe.Pointer)(unsafe.Pointer(&m)))[key] = value.pointer
	case kindBool:
		(*(*map[K]bool)(unsafe.Pointer(&m)))[key] = *(*bool)(unsafe.Pointer(&value.number))
	case kindVarint64, kindSint64, kindFixed64:
		(*(*map[K]uint64)(unsafe.Pointer(&m)))[key] = value.number
	default:
		(*(*map[K]uint32)(unsafe.Pointer(&m)))[key] = *(*uint32)(unsafe.Pointer(&value.number))
	}
}
