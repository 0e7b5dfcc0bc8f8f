package pb

import (
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/runtime/protoimpl"
)

// What protobuf takes cannot be counted while it takes it. It is charged for beforehand, with the most
// that each byte of its input can turn into.

// chargeProto counts what protobuf may take for a message.
func (d *decoder) chargeProto(t *table, input []byte) bool {
	if d.options.Limits.BytesMax <= 0 && !d.arena.HasBudget() {
		return true
	}
	bytesPerByte := t.bytesPerByte
	if t.extendable {
		bytesPerByte = max(bytesPerByte, d.worstExtension())
	}
	return d.chargeOutside((int64(len(input)) + headBytes) * bytesPerByte)
}

// headBytes is what an empty message takes of the input: a tag and a length.
const headBytes = 2

// chargeExtensions counts what extensions may take, before protobuf takes it: by type, at most what
// each byte of them can turn into.
func (d *decoder) chargeExtensions(t *table, input []byte) bool {
	resolver := d.resolver()
	name := t.mt.Descriptor().FullName()
	for len(input) > 0 {
		number, _, n := protowire.ConsumeField(input)
		if n < 0 {
			d.fail(errDecode)
			return false
		}
		bytesPerByte := int64(unknownBytesPerByte)
		if xt, err := resolver.FindExtensionByNumber(name, number); err == nil {
			bytesPerByte = extensionBytesPerByte
			if xt.TypeDescriptor().Message() != nil {
				sub := extensionTable(xt)
				bytesPerByte = max(bytesPerByte, sub.bytesPerByte)
				if sub.extendable {
					bytesPerByte = max(bytesPerByte, d.worstExtension())
				}
			}
		}
		if !d.chargeOutside(int64(n) * bytesPerByte) {
			return false
		}
		input = input[n:]
	}
	return true
}

// extensionFinder is the part of a resolver that the codec itself needs.
type extensionFinder interface {
	FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error)
}

// resolver returns where protobuf will look for extensions.
func (d *decoder) resolver() extensionFinder {
	if d.options.Resolver != nil {
		return d.options.Resolver
	}
	return protoregistry.GlobalTypes
}

const (
	// append takes up to six times what it holds in the end, most of it garbage on the way.
	unknownBytesPerByte = 6
	// An entry of the extension map, which doubles, for a field of two bytes.
	extensionBytesPerByte = 192
)

// extensionTables holds the *table of the messages of each *protoimpl.ExtensionInfo that was charged for.
var extensionTables sync.Map

// extensionTable returns the table of an extension's messages. REQUIRES: its values are messages.
func extensionTable(xt protoreflect.ExtensionType) *table {
	info, generated := xt.(*protoimpl.ExtensionInfo)
	if !generated {
		return foreign
	}
	if found, ok := extensionTables.Load(info); ok {
		return found.(*table)
	}
	value := xt.New()
	if xt.TypeDescriptor().IsList() {
		value = value.List().NewElement()
	}
	t := tableOf(value.Message())
	extensionTables.Store(info, t)
	return t
}

// worst is what worstRegistered found when so many extensions were registered.
var worst atomic.Pointer[struct{ extensions, bytesPerByte int64 }]

// worstExtension returns the most that a byte of an extension that is a message can turn into: what
// extensions inside of extensions are charged with, of which nobody knows beforehand which they are.
func (d *decoder) worstExtension() int64 {
	if d.worst == 0 {
		d.worst = worstRegistered()
		if types, ok := d.options.Resolver.(extensionRanger); ok {
			d.worst = max(d.worst, worstOf(types))
		}
	}
	return d.worst
}

// worstRegistered is worstExtension for the extensions that are linked in.
func worstRegistered() int64 {
	registered := int64(protoregistry.GlobalTypes.NumExtensions())
	if found := worst.Load(); found != nil && found.extensions == registered {
		return found.bytesPerByte
	}
	bytesPerByte := max(foreignBytesPerByte, worstOf(protoregistry.GlobalTypes))
	worst.Store(&struct{ extensions, bytesPerByte int64 }{registered, bytesPerByte})
	return bytesPerByte
}

type extensionRanger interface {
	RangeExtensions(func(protoreflect.ExtensionType) bool)
}

func worstOf(types extensionRanger) (bytesPerByte int64) {
	// A registry is locked meanwhile, and making a table may ask the registry.
	var found []protoreflect.ExtensionType
	types.RangeExtensions(func(xt protoreflect.ExtensionType) bool {
		found = append(found, xt)
		return true
	})
	for _, xt := range found {
		if xt.TypeDescriptor().Message() != nil {
			bytesPerByte = max(bytesPerByte, extensionTable(xt).bytesPerByte)
		}
	}
	return bytesPerByte
}
