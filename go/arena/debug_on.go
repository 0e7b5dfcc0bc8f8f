//go:build harena_debug

package arena

import (
	"reflect"
	"runtime"
	"unsafe"
)

// Debug says whether the package was built with the tag harena_debug: memory is then poisoned after
// Reset and Free instead of reused, and looked at for later writes.
const Debug = true

const (
	// What the quarantine of one arena holds on to, beyond the last round; the oldest leave it first.
	quarantineBytesMax = 64 << 10
	quarantineMapsMax  = 256
)

// debugState is the quarantine: memory of earlier rounds, which nobody may write.
type debugState struct {
	chunks []quarantined
	bytes  uintptr
	maps   []quarantinedMap
}

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

// quarantine poisons memory and keeps it for a while.
func (d *debugState) quarantine(t *Type, ptr unsafe.Pointer, bytes uintptr) {
	layout := layoutOf(t.elem)
	for off := uintptr(0); off < bytes; off += t.size {
		layout.poison(unsafe.Add(ptr, off))
	}
	d.chunks = append(d.chunks, quarantined{typ: t, ptr: ptr, bytes: bytes, reset: callers()})
	d.bytes += bytes
}

// quarantineMap keeps an empty map for a while.
func (d *debugState) quarantineMap(m reflect.Value) {
	d.maps = append(d.maps, quarantinedMap{value: m, reset: callers()})
}

// check reports what was written since the last check and lets go of the oldest memory. All of it is
// looked at once at least, however large it is.
func (d *debugState) check() {
	for i := range d.chunks {
		d.chunks[i].check()
	}
	for i := range d.maps {
		d.maps[i].check()
	}
	leaving := 0
	for ; d.bytes > quarantineBytesMax; leaving++ {
		d.bytes -= d.chunks[leaving].bytes
	}
	d.chunks = append([]quarantined(nil), d.chunks[leaving:]...)
	d.maps = append([]quarantinedMap(nil), d.maps[max(len(d.maps)-quarantineMapsMax, 0):]...)
}

// drop checks for the last time.
func (d *debugState) drop() {
	d.check()
	*d = debugState{}
}

func (q *quarantined) check() {
	layout := layoutOf(q.typ.elem)
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

func (q *quarantinedMap) check() {
	if q.value.Len() > 0 {
		q.value.Clear()
		report(&StaleWrite{Type: q.value.Type(), Reset: q.reset})
	}
}

func report(w *StaleWrite) {
	if hook := staleWriteHook.Load(); hook != nil {
		(*hook)(w)
		return
	}
	panic(w)
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
