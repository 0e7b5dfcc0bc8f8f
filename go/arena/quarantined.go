package arena

import (
	"reflect"
	"runtime"
	"unsafe"
)

// quarantined is memory that nobody may use any more: poisoned, and looked at for later writes.
type quarantined struct {
	typ   *Type
	ptr   unsafe.Pointer
	bytes uintptr
	reset []uintptr
}

type quarantinedMap struct {
	value reflect.Value
	reset []uintptr
}

// newQuarantined poisons the memory.
func newQuarantined(t *Type, ptr unsafe.Pointer, bytes uintptr, reset []uintptr) quarantined {
	layout := layoutOf(t.elem)
	if layout.isNumbers() {
		poisonNumbers(ptr, bytes)
	} else {
		for off := uintptr(0); off < bytes; off += t.size {
			layout.poison(unsafe.Add(ptr, off))
		}
	}
	return quarantined{typ: t, ptr: ptr, bytes: bytes, reset: reset}
}

// check reports each value that was written.
func (q *quarantined) check(report func(*StaleWrite)) {
	layout := layoutOf(q.typ.elem)
	if layout.isNumbers() {
		if _, ok := brokenNumbers(q.ptr, q.bytes); ok {
			return
		}
	}
	for off := uintptr(0); off < q.bytes; off += q.typ.size {
		ptr := unsafe.Add(q.ptr, off)
		offset, ok := layout.broken(ptr)
		if ok {
			continue
		}
		field, start := fieldAt(q.typ.elem, offset)
		// Poisoned anew, so that it is reported once.
		layout.poison(ptr)
		report(&StaleWrite{Type: q.typ.elem, Field: field, Offset: start, Index: int(off / q.typ.size), Reset: q.reset})
	}
}

func (q *quarantinedMap) check(report func(*StaleWrite)) {
	if q.value.Len() > 0 {
		q.value.Clear()
		report(&StaleWrite{Type: q.value.Type(), Reset: q.reset})
	}
}

// callers returns where the memory is taken back: the caller of Reset or Free and those above it.
func callers() []uintptr {
	pcs := make([]uintptr, 24)
	pcs = pcs[:runtime.Callers(2, pcs)]
	// This package's own frames say nothing to the reader.
	for len(pcs) > 1 {
		name := runtime.FuncForPC(pcs[0] - 1).Name()
		pcs = pcs[1:]
		if name == arenaReset || name == arenaFree {
			break
		}
	}
	return pcs
}

var (
	packagePath = reflect.TypeFor[Arena]().PkgPath()
	arenaReset  = packagePath + ".(*Arena).Reset"
	arenaFree   = packagePath + ".(*Arena).Free"
)
