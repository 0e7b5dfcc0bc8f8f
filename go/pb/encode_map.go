package pb

import (
	"cmp"
	"slices"
	"unsafe"
)

// entries writes a map. The field's own map type is replaced by the one of the same shape, as in
// putEntry.
func (e *encoder) entries(f *field, m unsafe.Pointer, pos int) int {
	switch f.entry.key.kind {
	case kindString:
		return entriesOf(e, f, m, pos, compareOrdered[string])
	case kindBool:
		return entriesOf(e, f, m, pos, compareBool)
	case kindVarint64, kindSint64, kindFixed64:
		if f.entry.signed {
			return entriesOf(e, f, m, pos, compareOrdered[int64])
		} else {
			return entriesOf(e, f, m, pos, compareOrdered[uint64])
		}
	default:
		if f.entry.signed {
			return entriesOf(e, f, m, pos, compareOrdered[int32])
		} else {
			return entriesOf(e, f, m, pos, compareOrdered[uint32])
		}
	}
}

func compareOrdered[K cmp.Ordered](a, b K) int { return cmp.Compare(a, b) }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

func entriesOf[K comparable](e *encoder, f *field, m unsafe.Pointer, pos int, compare func(a, b K) int) int {
	switch f.entry.value.kind {
	case kindString:
		return writeMap(e, f, *(*map[K]string)(unsafe.Pointer(&m)), pos, compare)
	case kindBytes:
		return writeMap(e, f, *(*map[K][]byte)(unsafe.Pointer(&m)), pos, compare)
	case kindMessage:
		return writeMap(e, f, *(*map[K]unsafe.Pointer)(unsafe.Pointer(&m)), pos, compare)
	case kindBool:
		return writeMap(e, f, *(*map[K]bool)(unsafe.Pointer(&m)), pos, compare)
	case kindVarint64, kindSint64, kindFixed64:
		return writeMap(e, f, *(*map[K]uint64)(unsafe.Pointer(&m)), pos, compare)
	default:
		return writeMap(e, f, *(*map[K]uint32)(unsafe.Pointer(&m)), pos, compare)
	}
}

func writeMap[K comparable, V any](e *encoder, f *field, m map[K]V, pos int, compare func(a, b K) int) int {
	if !e.deterministic {
		for key, value := range m {
			pos = writeEntry(e, f, pos, unsafe.Pointer(&key), unsafe.Pointer(&value))
		}
		return pos
	}
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compare)
	for _, key := range slices.Backward(keys) {
		value := m[key]
		pos = writeEntry(e, f, pos, unsafe.Pointer(&key), unsafe.Pointer(&value))
	}
	return pos
}

// writeEntry writes one entry. Key and value are written even when they are zero, as protobuf does.
func writeEntry(e *encoder, f *field, pos int, key, value unsafe.Pointer) int {
	before := len(e.buf) - pos
	if f.entry.float {
		*(*uint32)(value) = quiet(*(*uint32)(value)) // a copy of the map's
	}
	pos = e.value(&f.entry.value, value, pos)
	pos = e.value(&f.entry.key, key, pos)
	pos = e.length(before, pos)
	return putVarint(e.buf, pos, f.tag)
}
