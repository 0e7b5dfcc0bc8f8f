package arena

import (
	"reflect"
	"strconv"
	"sync"
	"unsafe"
)

const (
	poisonByte = 0xDB
	poisonText = "harena/arena: read after Reset"
)

// leaf is a part of a value that has no parts, or an array of parts.
type leaf struct {
	kind   reflect.Kind // Bool, String, Slice, Interface; Pointer for all that is one pointer; Int for numbers; Array
	offset uintptr
	size   uintptr // of all numbers of an array, which are one leaf

	count int // of an array of anything else
	elem  *layout
}

// layout is how a type's values are poisoned, found out once.
type layout struct {
	size   uintptr
	leaves []leaf
}

var layouts sync.Map // reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if found, ok := layouts.Load(t); ok {
		return found.(*layout)
	}
	made := &layout{size: t.Size()}
	made.add(t, 0)
	layouts.Store(t, made)
	return made
}

// add appends the leaves of a value of type t at the offset.
func (l *layout) add(t reflect.Type, offset uintptr) {
	kind := t.Kind()
	switch kind {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			l.add(f.Type, offset+f.Offset)
		}
		return
	case reflect.Array:
		elem := layoutOf(t.Elem())
		if elem.isNumbers() {
			l.leaves = append(l.leaves, leaf{kind: reflect.Int, offset: offset, size: t.Size()})
		} else {
			l.leaves = append(l.leaves, leaf{kind: kind, offset: offset, count: t.Len(), elem: elem})
		}
		return
	case reflect.Chan, reflect.Func, reflect.Map, reflect.Pointer, reflect.UnsafePointer:
		kind = reflect.Pointer
	case reflect.Bool, reflect.String, reflect.Slice, reflect.Interface:
	default:
		kind = reflect.Int
	}
	l.leaves = append(l.leaves, leaf{kind: kind, offset: offset, size: t.Size()})
}

// poison overwrites the value at ptr: numbers with 0xDB bytes, strings with a text that says what
// happened, and whatever points with nil, so that a use stops. Padding is left alone.
func (l *layout) poison(value unsafe.Pointer) {
	for i := range l.leaves {
		leaf := &l.leaves[i]
		ptr := unsafe.Add(value, leaf.offset)
		switch leaf.kind {
		case reflect.Array:
			for j := range leaf.count {
				leaf.elem.poison(unsafe.Add(ptr, uintptr(j)*leaf.elem.size))
			}
		case reflect.Bool:
			*(*bool)(ptr) = true
		case reflect.String:
			*(*string)(ptr) = poisonText
		case reflect.Slice:
			*(*[]byte)(ptr) = nil
		case reflect.Interface:
			*(*[2]unsafe.Pointer)(ptr) = [2]unsafe.Pointer{}
		case reflect.Pointer:
			*(*unsafe.Pointer)(ptr) = nil
		default:
			poisonNumbers(ptr, leaf.size)
		}
	}
}

var poisonWord = [8]byte{poisonByte, poisonByte, poisonByte, poisonByte, poisonByte, poisonByte, poisonByte, poisonByte}

// poisonNumbers overwrites memory without pointers.
func poisonNumbers(ptr unsafe.Pointer, bytes uintptr) {
	if bytes == 8 {
		*(*[8]byte)(ptr) = poisonWord
		return
	}
	all := unsafe.Slice((*byte)(ptr), bytes)
	for done := copy(all, poisonWord[:]); done < len(all); done *= 2 {
		copy(all[done:], all[:done])
	}
}

// brokenNumbers returns the offset of the first byte that is not as poisonNumbers left it, or ok.
func brokenNumbers(ptr unsafe.Pointer, bytes uintptr) (offset uintptr, ok bool) {
	for ; offset+8 <= bytes && *(*[8]byte)(unsafe.Add(ptr, offset)) == poisonWord; offset += 8 {
	}
	for ; offset < bytes; offset++ {
		if *(*byte)(unsafe.Add(ptr, offset)) != poisonByte {
			return offset, false
		}
	}
	return 0, true
}

// isNumbers reports whether the values have no parts but numbers, and no gaps.
func (l *layout) isNumbers() bool {
	return len(l.leaves) == 1 && l.leaves[0].kind == reflect.Int && l.leaves[0].size == l.size
}

// broken returns the offset of the first leaf that is not as poison left it, or ok.
func (l *layout) broken(value unsafe.Pointer) (offset uintptr, ok bool) {
	for i := range l.leaves {
		leaf := &l.leaves[i]
		ptr := unsafe.Add(value, leaf.offset)
		ok := true
		switch leaf.kind {
		case reflect.Array:
			for j := range leaf.count {
				at := uintptr(j) * leaf.elem.size
				if within, ok := leaf.elem.broken(unsafe.Add(ptr, at)); !ok {
					return leaf.offset + at + within, false
				}
			}
		case reflect.Bool:
			ok = *(*byte)(ptr) == 1
		case reflect.String:
			text := *(*string)(ptr)
			ok = len(text) == len(poisonText) && unsafe.StringData(text) == unsafe.StringData(poisonText)
		case reflect.Slice:
			ok = *(*[]byte)(ptr) == nil
		case reflect.Interface:
			ok = *(*[2]unsafe.Pointer)(ptr) == [2]unsafe.Pointer{}
		case reflect.Pointer:
			ok = *(*unsafe.Pointer)(ptr) == nil
		default:
			if at, ok := brokenNumbers(ptr, leaf.size); !ok {
				return leaf.offset + at, false
			}
		}
		if !ok {
			return leaf.offset, false
		}
	}
	return 0, true
}

// fieldAt names the part of a value of type t that the offset is in, and returns where that part
// begins.
func fieldAt(t reflect.Type, offset uintptr) (name string, start uintptr) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Offset <= offset && offset < f.Offset+f.Type.Size() {
				rest, within := fieldAt(f.Type, offset-f.Offset)
				return "." + f.Name + rest, f.Offset + within
			}
		}
	case reflect.Array:
		i := offset / t.Elem().Size()
		at := i * t.Elem().Size()
		rest, within := fieldAt(t.Elem(), offset-at)
		return "[" + strconv.Itoa(int(i)) + "]" + rest, at + within
	}
	return "", 0
}
