//go:build race

package arena

import (
	"runtime"
	"unsafe"
)

// raceWriteRange tells the race detector that the memory is written now. The clearing itself is done
// by the runtime, which the detector does not see: without this, a goroutine that goes on reading
// after Reset would not be reported.
func raceWriteRange(ptr unsafe.Pointer, bytes uintptr) {
	runtime.RaceWriteRange(ptr, int(bytes))
}
