package pb

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"
)

// What a table says of the types below its own.

// anyBelow reports whether something is true of a message type or of a type below it.
func anyBelow(md protoreflect.MessageDescriptor, is func(protoreflect.MessageDescriptor) bool, seen map[protoreflect.FullName]bool) bool {
	if seen[md.FullName()] {
		return false
	}
	seen[md.FullName()] = true
	if is(md) {
		return true
	}
	fields := md.Fields()
	for i := range fields.Len() {
		if sub := fields.Get(i).Message(); sub != nil && anyBelow(sub, is, seen) {
			return true
		}
	}
	return false
}

// mayLackRequired is protobuf's rule: extensions may have required fields.
func mayLackRequired(md protoreflect.MessageDescriptor) bool {
	return md.RequiredNumbers().Len() > 0 || isExtendable(md)
}

func isExtendable(md protoreflect.MessageDescriptor) bool { return md.ExtensionRanges().Len() > 0 }

// settleBytesPerByte raises every table's worst case to that of the types it contains.
func settleBytesPerByte(made []*table) {
	for changed := true; changed; {
		changed = false
		for _, t := range made {
			for _, sub := range t.below {
				if sub.bytesPerByte > t.bytesPerByte {
					t.bytesPerByte = sub.bytesPerByte
					changed = true
				}
			}
		}
	}
}

// contained finds the types below one that has no table, for settleBytesPerByte.
func (b *builder) contained(t *table) {
	defer func() { _ = recover() }() // what protobuf cannot make it cannot decode either
	m := t.mt.New()
	fields := t.mt.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		var value protoreflect.Value
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			value = m.NewField(fd).Map().NewValue()
		case fd.IsMap() || fd.Message() == nil:
			continue
		case fd.IsList():
			value = m.NewField(fd).List().NewElement()
		default:
			value = m.NewField(fd)
		}
		if mt, generated := value.Message().Type().(*protoimpl.MessageInfo); generated {
			t.below = append(t.below, b.table(mt))
		}
	}
}
