//go:build harena_debug

package arena

import (
	"reflect"
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

// quarantine poisons memory and keeps it for a while.
func (d *debugState) quarantine(t *Type, ptr unsafe.Pointer, bytes uintptr) {
	d.chunks = append(d.chunks, newQuarantined(t, ptr, bytes, callers()))
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
		d.chunks[i].check(report)
	}
	for i := range d.maps {
		d.maps[i].check(report)
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

// report hands a stale write to the hook. Nobody looks at the logs of a debug build: without a hook
// it panics.
func report(w *StaleWrite) {
	if hook := staleWriteHook.Load(); hook != nil {
		(*hook)(w)
		return
	}
	panic(w)
}
