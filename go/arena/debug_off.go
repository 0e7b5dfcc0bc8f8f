//go:build !harena_debug

package arena

import (
	"reflect"
	"unsafe"
)

// Debug says whether the package was built with the tag harena_debug: memory is then poisoned after
// Reset and Free instead of reused, and looked at for later writes.
const Debug = false

type debugState struct{}

func (debugState) check()                                    {}
func (debugState) drop()                                     {}
func (debugState) quarantine(*Type, unsafe.Pointer, uintptr) {}
func (debugState) quarantineMap(reflect.Value)               {}
