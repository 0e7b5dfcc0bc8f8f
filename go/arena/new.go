package arena

import (
	"reflect"
	"unsafe"
)

// cacheSize is the number of types whose slab NewOf finds without a search: enough for the types of
// one request, small enough to stay in the first-level cache.
const cacheSize = 64

// cacheEntry remembers the slab of a type, by the address of the type's descriptor.
type cacheEntry struct {
	word unsafe.Pointer
	slab *slab
}

// interfaceWords is how the runtime lays out an `any`. reflect.TypeFor would say the same in a more
// official way; reading the word is what makes NewOf cheap. TestTypeWord holds the assumption.
type interfaceWords struct {
	typ, data unsafe.Pointer
}

// NewOf returns a zero T. It panics with a *[LimitError] beyond the arena's bound. See [Kind] for
// hot types.
func NewOf[T any](a *Arena) *T {
	return (*T)(a.newOf((*T)(nil)))
}

// NewOfUninitialized is [NewOf] for callers who will set every field. The arena may hand out values
// that are not zero; today it zeroes memory when it is taken back and has nothing to save here.
func NewOfUninitialized[T any](a *Arena) *T {
	return (*T)(a.newOf((*T)(nil)))
}

// newOf returns a zero value of the type that key is a nil pointer to.
func (a *Arena) newOf(key any) unsafe.Pointer {
	word := (*interfaceWords)(unsafe.Pointer(&key)).typ
	if i := cacheIndex(word); i < uintptr(len(a.cache)) {
		if e := &a.cache[i]; e.word == word {
			s := e.slab
			if off := s.off; off < s.end {
				s.off = off + s.typ.size
				return unsafe.Add(s.base, off)
			}
		}
	}
	return a.newOfSlow(key)
}

func (a *Arena) newOfSlow(key any) unsafe.Pointer {
	return a.slowOrPanic(a.slabOfSlow(key).typ, 1)
}

// slabOf returns the slab of the type that key is a nil pointer to.
func (a *Arena) slabOf(key any) *slab {
	word := (*interfaceWords)(unsafe.Pointer(&key)).typ
	if i := cacheIndex(word); i < uintptr(len(a.cache)) {
		if e := &a.cache[i]; e.word == word {
			return e.slab
		}
	}
	return a.slabOfSlow(key)
}

func (a *Arena) slabOfSlow(key any) *slab {
	s := a.slab(TypeOf(reflect.TypeOf(key).Elem()))
	word := (*interfaceWords)(unsafe.Pointer(&key)).typ
	a.cache[cacheIndex(word)] = cacheEntry{word: word, slab: s}
	return s
}

// cacheIndex spreads descriptors, which are about 64 bytes apart, over the cache.
func cacheIndex(word unsafe.Pointer) uintptr { return uintptr(word) / 64 % cacheSize }
