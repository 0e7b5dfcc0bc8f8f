package pb

import "unsafe"

// Whether a message lacks something required is decided by protobuf, which walks the whole message to
// find out. That is spared where the decoder or the encoder can say for certain that nothing is
// missing: every message they met has its required fields, and none of them went through protobuf.

// lacks reports whether the message at p lacks a required field of its own.
func (t *table) lacks(p unsafe.Pointer) bool {
	for _, f := range t.required {
		at := unsafe.Add(p, f.offset)
		switch {
		case f.hasBit:
			if !t.present(p, f.bit) {
				return true
			}
		default: // a pointer, or bytes, which begin with one
			if *(*unsafe.Pointer)(at) == nil {
				return true
			}
		}
	}
	return false
}
