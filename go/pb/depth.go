package pb

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// protobuf counts levels down to zero and takes a zero for "not set" when it enters an extension: the
// limit then starts anew, and an input of four megabytes can nest so deep that the stack overflows,
// which ends the process. What may hold extensions is therefore looked through before protobuf gets it.

// depthWalker finds out how deep an input nests.
type depthWalker struct {
	resolver extensionFinder
}

const (
	walkMalformed = -1 // protobuf will say what is wrong
	walkTooDeep   = -2
)

// tooDeep reports whether a message of type md has more levels than those, itself included.
func (d *decoder) tooDeep(md protoreflect.MessageDescriptor, input []byte, levels int) bool {
	if len(input) <= levelBytesMin*levels {
		return false
	}
	w := depthWalker{d.resolver()}
	return w.walk(md, input, levels, 0) == walkTooDeep
}

// levelBytesMin is what a level takes of the input: a tag and a length, or two tags.
const levelBytesMin = 2

// walk returns the position behind a message, or behind the group with that number, or one of the
// negative numbers above. Every byte is looked at once, however the input nests.
func (w *depthWalker) walk(md protoreflect.MessageDescriptor, b []byte, levels int, group protowire.Number) int {
	if levels--; levels < 0 {
		return walkTooDeep
	}
	for i := 0; i < len(b); {
		number, wire, n := protowire.ConsumeTag(b[i:])
		if n < 0 {
			return walkMalformed
		}
		i += n
		if wire == protowire.EndGroupType {
			if number != group {
				return walkMalformed
			}
			return i
		}
		sub, kind := w.messageOf(md, number)
		if wire == protowire.StartGroupType && kind == protoreflect.GroupKind {
			if n = w.walk(sub, b[i:], levels, number); n < 0 {
				return n
			}
			i += n
			continue
		}
		if n = protowire.ConsumeFieldValue(number, wire, b[i:]); n < 0 {
			return walkMalformed
		}
		if wire == protowire.BytesType && kind == protoreflect.MessageKind && n > levelBytesMin*levels {
			content, _ := protowire.ConsumeBytes(b[i:])
			if result := w.walk(sub, content, levels, 0); result < 0 {
				return result
			}
		}
		i += n
	}
	if group != 0 {
		return walkMalformed
	}
	return len(b)
}

// messageOf returns the type of a field or extension that is a message, and which kind of one.
func (w *depthWalker) messageOf(md protoreflect.MessageDescriptor, number protowire.Number) (protoreflect.MessageDescriptor, protoreflect.Kind) {
	if fd := md.Fields().ByNumber(number); fd != nil {
		return fd.Message(), fd.Kind()
	}
	if md.ExtensionRanges().Has(number) {
		if xt, err := w.resolver.FindExtensionByNumber(md.FullName(), number); err == nil {
			fd := xt.TypeDescriptor()
			return fd.Message(), fd.Kind()
		}
	}
	return nil, 0
}
