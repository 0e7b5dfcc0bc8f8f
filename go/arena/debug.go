package arena

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
)

// StaleWrite says that memory was written after the Reset or Free that ended it. Builds with the tag
// harena_debug look for that in all memory, others in arenas that [PoolOptions].QuarantineOneIn
// samples.
type StaleWrite struct {
	Type   reflect.Type // of the value that was written; a map type when an entry was added to a map
	Field  string       // the field within it, as in ".Name" or "[3].X"; empty when the value is not a struct or array
	Offset uintptr      // of the field from the start of the value, in bytes
	Index  int          // of the value in its chunk, for telling two of them apart
	Pool   string       // the pool's name, of [PoolOptions]; empty when it has none
	Reset  []uintptr    // where the memory was taken back, as of [runtime.Callers]
}

// Error describes the write and where the memory was taken back.
func (w *StaleWrite) Error() string {
	var b strings.Builder
	of := ""
	if w.Pool != "" {
		of = " of " + w.Pool
	}
	fmt.Fprintf(&b, "harena/arena: %v%s%s (offset %d of value %d) was written after the Reset or Free at",
		w.Type, w.Field, of, w.Offset, w.Index)
	for frames := runtime.CallersFrames(w.Reset); ; {
		frame, more := frames.Next()
		fmt.Fprintf(&b, "\n\t%s\n\t\t%s:%d", frame.Function, frame.File, frame.Line)
		if !more {
			return b.String()
		}
	}
}

var staleWriteHook atomic.Pointer[func(*StaleWrite)]

// OnStaleWrite has hook called for every stale write that is found. Nil stands for a panic in builds
// with the tag harena_debug, and for the text on standard error in others. It is called by the
// goroutine whose Reset or Free found the write, or by one of the pool's own.
//
// Thread rule: any goroutine.
func OnStaleWrite(hook func(*StaleWrite)) {
	if hook == nil {
		staleWriteHook.Store(nil)
		return
	}
	staleWriteHook.Store(&hook)
}
