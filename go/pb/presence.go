package pb

import (
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"
)

// Messages of the Opaque API keep the presence of their fields as bits of an array in the struct,
// which the generated code names XXX_presence.

// setPresent sets a field's bit.
func (t *table) setPresent(p unsafe.Pointer, bit uint32) {
	word := (*uint32)(unsafe.Add(p, t.presenceOffset+uintptr(bit/32)*4))
	protoimpl.X.SetPresentNonAtomic(word, bit, t.presenceBits)
}

// present reports a field's bit.
func (t *table) present(p unsafe.Pointer, bit uint32) bool {
	word := (*uint32)(unsafe.Add(p, t.presenceOffset+uintptr(bit/32)*4))
	return protoimpl.X.Present(word, bit)
}

// findBit asks protobuf which bit belongs to a field: it sets the field in a new message and looks.
func (t *table) findBit(fd protoreflect.FieldDescriptor, wordCount int) (bit uint32, found bool) {
	m := t.mt.New()
	setProbe(m, fd)
	p := reflect.ValueOf(m.Interface()).UnsafePointer()
	for i, word := range unsafe.Slice((*uint32)(unsafe.Add(p, t.presenceOffset)), wordCount) {
		for b := range uint32(32) {
			if word&(1<<b) != 0 {
				return uint32(i)*32 + b, true
			}
		}
	}
	return 0, false
}
