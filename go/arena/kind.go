package arena

import (
	"reflect"
	"unsafe"
)

// Kind is a handle on the type T, and the fastest way to allocate: it spares [NewOf] the search for
// T's slab. Make one per hot type, once:
//
//	var nodes = arena.KindOf[Node]()
//
//	n := nodes.New(a)
//
// Thread rule: any goroutine. Its methods are under the thread rule of the arena they are given. The zero Kind is
// not usable: it panics.
type Kind[T any] struct {
	_   [0]*T // keeps Kind[A] from being converted to Kind[B]
	id  uint  // 0 in the zero Kind, which no slab has
	typ *Type
}

// KindOf returns the handle on T.
func KindOf[T any]() Kind[T] {
	t := TypeOf(reflect.TypeFor[T]())
	return Kind[T]{id: t.id, typ: t}
}

// New returns a zero T. It panics with a *[LimitError] beyond the arena's bound.
func (k Kind[T]) New(a *Arena) *T {
	if k.id < uint(len(a.slabs)) {
		s := a.slabs[k.id]
		if off := s.off; off < s.end {
			s.off = off + unsafe.Sizeof(*new(T))
			return (*T)(unsafe.Add(s.base, off))
		}
	}
	return (*T)(a.slowOrPanic(k.typ, 1))
}

// MakeSlice returns n zero values with no room to spare: append moves to the heap rather than into a
// neighbour, see [Append]. It panics with a *[LimitError] beyond the arena's bound.
func (k Kind[T]) MakeSlice(a *Arena, n int) []T {
	return makeSlice[T](a, a.slab(k.typ).typ, n, n)
}
