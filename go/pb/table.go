package pb

import (
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"

	"github.com/harena-project/harena/go/arena"
)

// table is all that the codec knows of one message type. It is built once per type and never changes
// afterwards.
type table struct {
	goType      reflect.Type // of the struct; nil when messages are no generated structs
	pointerType reflect.Type // of pointers to it
	mt          *protoimpl.MessageInfo
	typ         *arena.Type
	// Of *T and of []*T. Each message type has its own, so that a list which somebody kept too long
	// reads pointers to messages of its type, whatever the memory serves by then.
	pointers, lists *arena.Type
	// The way to a field from its tag, for tags of one byte with the right wire type. The others are
	// found by number: in dense if it is small, else in sparse.
	byTag   [128]*field
	dense   []*field
	sparse  map[uint32]*field
	ordered []slot // as protobuf writes them; one entry per oneof

	unknownOffset   uintptr // noOffset: none
	extensionOffset uintptr // noOffset: the message cannot be extended
	presenceOffset  uintptr // noOffset: no presence bits
	presenceBits    uint32
	lazyOffset      uintptr // noOffset: no lazy fields

	// Messages of this type may lack a required field, here or further down.
	needsInit bool
	required  []*field // of this type itself
	// Extensions are possible here or further down.
	extendable bool
	// The types of the fields that are messages.
	below []*table
	// The most bytes of Go memory that a byte of input can turn into, anywhere below this message but
	// in extensions: what a fall-back to protobuf is charged with.
	bytesPerByte int64
	// How much of an input of this type is strings; 0 while that is not known. See decode_text.go.
	textShare uint32 // atomic

	// Some messages of this type are left to protobuf: see encoder.needsProto.
	special bool
	// Why protobuf handles the whole type, or "".
	fallback string
}

const noOffset = ^uintptr(0)

// field is one field of a message, as the decoder and the encoder need it. What every value needs
// comes first, to lie in one cache line.
type field struct {
	op       op
	kind     kind
	form     form
	wire     uint8 // of one value, unpacked
	utf8     bool  // strings must be valid
	hasBit   bool  // the field has a bit among the message's presence bits
	packed   bool  // written packed
	indirect bool  // the list is behind a pointer: *[]*T
	deref    bool  // the value is behind a pointer
	offset   uintptr
	number   uint32
	bit      uint32
	elem     *arena.Type // of what a pointer, a oneof's wrapper or a list's element needs
	sub      *table
	tag      uint64 // as it is written

	oneof *oneof // of a oneof's member
	entry *entry // of a map
	desc  protoreflect.FieldDescriptor
}

// slot is the encoder's view of a field: a table of them is walked for every message, whether the
// fields are set or not, and is kept small for that.
type slot struct {
	op       op
	kind     kind
	utf8     bool
	hasBit   bool
	deref    bool
	plain    bool // neither of the two
	implicit bool // absent when zero
	short    bool // the tag takes one byte
	bit      uint32
	offset   uintptr
	tag      uint64
	field    *field
}

// oneof is a member of a oneof: the wrapper that Go keeps it in.
type oneof struct {
	itab    unsafe.Pointer // the first word of the interface that holds the wrapper
	wrapper reflect.Type   // a pointer to it is what the interface holds
	iface   reflect.Type
	members []oneofMember // all of the oneof, on the one that stands in table.ordered
}

// memberOf finds the member that the interface at `at` holds by its type, or returns nil. The runtime
// makes one itab per pair of types; a program that loads plugins may hold several.
func (o *oneof) memberOf(at unsafe.Pointer) *field {
	held := reflect.NewAt(o.iface, at).Elem().Elem().Type()
	for _, member := range o.members {
		if held == reflect.PointerTo(member.field.oneof.wrapper) {
			return member.field
		}
	}
	return nil
}

type oneofMember struct {
	itab  unsafe.Pointer
	field *field
}

// entry is what a map field consists of.
type entry struct {
	key, value field
	maps       *arena.MapType
	signed     bool // the key, which matters for the order
	float      bool // the value is a float
	slotBytes  int64
}

// kind is how a value looks on the wire and in Go.
type kind uint8

const (
	kindBool     kind = iota
	kindInt32         // enums too
	kindUint32        // differs from kindInt32 in writing only
	kindVarint64      // int64, uint64
	kindSint32
	kindSint64
	kindFixed32 // float too
	kindFixed64 // double too
	kindString
	kindBytes
	kindMessage
	kindGroup
)

// form is where in the struct a value lies.
type form uint8

const (
	formValue    form = iota // in the struct; absent when zero
	formExplicit             // in the struct, with a presence bit, or bytes that are absent when nil
	formPointer              // behind a pointer that is nil when absent; messages too
	formOneof
	formList
	formMap
)

// op selects the decoder's way for a field: the product of kind and form, as far as it pays.
type op uint8

const (
	opMember op = iota // of a oneof
	opBool
	opVarint32
	opVarint64
	opSint32
	opSint64
	opFixed32
	opFixed64
	opString
	opBytes
	opMessage
	opMessageList
	opGroup
	opGroupList
	opMap
	opStringList
	opBytesList
	opScalarList
)

// find returns the field with a number, or nil.
func (t *table) find(number uint64) *field {
	if number < uint64(len(t.dense)) {
		return t.dense[number]
	}
	if t.sparse == nil || number > 1<<29 {
		return nil
	}
	return t.sparse[uint32(number)]
}

// accepts reports whether a value of this wire type is one of the field's.
func (f *field) accepts(wire uint8) bool {
	return wire == f.wire || wire == wireBytes && f.op == opScalarList
}

type sliceHeader struct {
	ptr      unsafe.Pointer
	len, cap int
}

type interfaceWords struct {
	itab, data unsafe.Pointer
}

// The types whose memory all message types share. Numbers of the same width serve each other: none of
// them can be mistaken for a pointer.
var (
	stringType    = arena.TypeOf(reflect.TypeFor[string]())
	bytesType     = arena.TypeOf(reflect.TypeFor[[]byte]())
	byteType      = arena.TypeOf(reflect.TypeFor[byte]())
	boolType      = arena.TypeOf(reflect.TypeFor[bool]())
	word32Type    = arena.TypeOf(reflect.TypeFor[uint32]())
	word64Type    = arena.TypeOf(reflect.TypeFor[uint64]())
	typeOfKind    = [...]*arena.Type{boolType, word32Type, word32Type, word64Type, word32Type, word64Type, word32Type, word64Type, stringType, bytesType}
	wireOfKind    = [...]uint8{wireVarint, wireVarint, wireVarint, wireVarint, wireVarint, wireVarint, wireFixed32, wireFixed64, wireBytes, wireBytes, wireBytes, wireStart}
	sizeOfNumbers = [...]uintptr{1, 4, 4, 8, 4, 8, 4, 8}
)
