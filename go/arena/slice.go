package arena

import "unsafe"

// MakeSlice returns a slice of length zero values and room for capacity. It panics with a
// *[LimitError] beyond the arena's bound, and when the lengths make no sense.
//
// The plain append moves to the heap once the capacity is used up; [Append] stays in the arena.
func MakeSlice[T any](a *Arena, length, capacity int) []T {
	return makeSlice[T](a, a.slabOf((*T)(nil)).typ, length, capacity)
}

// MakeSliceUninitialized is [MakeSlice] for callers who will set every element, see
// [NewOfUninitialized].
func MakeSliceUninitialized[T any](a *Arena, length, capacity int) []T {
	return makeSlice[T](a, a.slabOf((*T)(nil)).typ, length, capacity)
}

func makeSlice[T any](a *Arena, t *Type, length, capacity int) []T {
	if length < 0 || capacity < length {
		panic("harena/arena: MakeSlice: length out of range: want 0 <= length <= capacity")
	}
	if capacity == 0 {
		a.ready()
		return []T{}
	}
	ptr := t.NewArray(a, capacity)
	if ptr == nil {
		ptr = a.slowOrPanic(t, capacity)
	}
	return unsafe.Slice((*T)(ptr), capacity)[:length]
}

// Append is append for slices in the arena: the elements move to a new place in the arena when the
// capacity does not suffice, and the old place stays taken until Reset. The slice may also be nil or
// lie on the heap. Where its capacity ends at the last thing that the arena handed out for T it grows
// in place instead, and the result shares its elements with the slice that was given.
func Append[T any](a *Arena, slice []T, values ...T) []T {
	length := len(slice) + len(values)
	if uint(length) <= uint(cap(slice)) {
		return append(slice, values...)
	}
	s := a.slabOf((*T)(nil))
	t := s.typ
	capacity := max(length, 2*cap(slice))
	if t.size <= appendSpareBytes {
		capacity = max(capacity, 4)
	}
	if cap(slice) > 0 && s.extend(unsafe.Pointer(unsafe.SliceData(slice)), cap(slice), capacity) {
		grown := unsafe.Slice(unsafe.SliceData(slice), capacity)[:len(slice)]
		return append(grown, values...)
	}
	grown := makeSlice[T](a, t, 0, capacity)
	grown = append(grown, slice...)
	return append(grown, values...)
}

// appendSpareBytes is the size up to which the first Append makes room for four values at once.
const appendSpareBytes = 256

// extend grows the array at ptr in place when it is the last one of the slab and there is room.
func (s *slab) extend(ptr unsafe.Pointer, oldLength, newLength int) bool {
	if s.base == nil {
		return false
	}
	// An array elsewhere is below the base, which wraps around, or beyond the end.
	start := uintptr(ptr) - uintptr(s.base)
	if start >= s.end || start+uintptr(oldLength)*s.typ.size != s.off {
		return false
	}
	if uintptr(newLength) > s.typ.lengthMax {
		return false
	}
	more := uintptr(newLength-oldLength) * s.typ.size
	if more > s.end-s.off {
		return false
	}
	s.off += more
	return true
}
