// Package process pins the own process to a core and counts what it has used.
package process

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// PinTo makes the whole process run on one core, by starting the program again on it: threads that
// exist already could not be moved, and Go counts its cores when it starts. It returns in the process
// that is pinned. Call it first in main.
func PinTo(core int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("process: reading the cores that may be used: %w", err)
	}
	if set.Count() == 1 && set.IsSet(core) {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("process: %w", err)
	}
	runtime.LockOSThread() // the thread that executes is the one that stays
	set.Zero()
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("process: cannot run on core %d: %w", core, err)
	}
	return fmt.Errorf("process: starting again on core %d: %w", core, syscall.Exec(program, os.Args, os.Environ()))
}
