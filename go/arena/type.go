package arena

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Type is what an arena needs to know of a Go type: the untyped counterpart of [Kind], for codecs
// and others who learn their types by reflection. There is one Type per Go type in a process.
//
// Memory of a Type is only ever reused for the same Type. Whoever puts pointers to different types into
// memory of one Type, unsafe.Pointer for example, gives up what the package promises about a pointer
// that was kept too long; take the Type of reflect.PointerTo(elem) for an array of pointers.
//
// Thread rule: any goroutine. Its methods are under the thread rule of the arena they are given.
type Type struct {
	id     uint // from 1 on, so that a zero Type names no slab
	size   uintptr
	elem   reflect.Type
	slice  reflect.Type
	noscan bool // holds no pointers
	// The longest array that the fast path handles; 0 for types without bytes.
	lengthMax uintptr
}

// types is read on allocation paths and therefore without a lock.
var types struct {
	of    sync.Map // reflect.Type to *Type
	mutex sync.Mutex
	count atomic.Uint64
}

// TypeOf returns the Type of t.
func TypeOf(t reflect.Type) *Type {
	if found, ok := types.of.Load(t); ok {
		return found.(*Type)
	}
	types.mutex.Lock()
	defer types.mutex.Unlock()
	if found, ok := types.of.Load(t); ok {
		return found.(*Type)
	}
	made := &Type{
		id:     uint(types.count.Load()) + 1,
		size:   t.Size(),
		elem:   t,
		slice:  reflect.SliceOf(t),
		noscan: !hasPointers(t),
	}
	if made.size > 0 {
		made.lengthMax = allocBytesMax / made.size
	}
	types.of.Store(t, made)
	types.count.Add(1)
	return made
}

// typeCount returns how many types there are, which is also the highest id.
func typeCount() uint { return uint(types.count.Load()) }

// Size returns the bytes of one value.
func (t *Type) Size() uintptr { return t.size }

// New returns a zero value, or nil when the arena's bound does not allow it.
func (t *Type) New(a *Arena) unsafe.Pointer {
	if t.id < uint(len(a.slabs)) {
		s := a.slabs[t.id]
		if off := s.off; off < s.end {
			s.off = off + t.size
			return unsafe.Add(s.base, off)
		}
	}
	return a.slow(t, 1)
}

// NewArray returns n zero values in a row, or nil when the arena's bound does not allow it. It panics
// when n is negative or absurd.
func (t *Type) NewArray(a *Arena, n int) unsafe.Pointer {
	if t.id < uint(len(a.slabs)) && uintptr(n)-1 < t.lengthMax {
		s := a.slabs[t.id]
		if bytes, off := uintptr(n)*t.size, s.off; bytes <= s.end-off {
			s.off = off + bytes
			return unsafe.Add(s.base, off)
		}
	}
	return a.slow(t, n)
}

// hasPointers reports whether the garbage collector has to look into values of type t.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return true
	}
}
