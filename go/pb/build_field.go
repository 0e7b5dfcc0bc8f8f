package pb

import (
	"fmt"
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"

	"github.com/harena-project/harena/go/arena"
)

// field makes the table of one field.
func (b *builder) field(t *table, l *layout, fd protoreflect.FieldDescriptor) (*field, error) {
	f := &field{desc: fd, number: uint32(fd.Number())}
	f.setKind(fd)
	od := fd.ContainingOneof()
	inOneof := od != nil && !od.IsSynthetic()
	var sf reflect.StructField
	var found bool
	if inOneof {
		sf, found = l.byOneof[od.Name()]
	} else {
		sf, found = l.byNumber[fd.Number()]
	}
	if !found {
		return nil, fmt.Errorf("the struct has no such field")
	}
	f.offset = sf.Offset
	var err error
	switch {
	case fd.IsMap():
		err = b.mapField(f, sf.Type)
	case fd.IsList():
		err = b.listField(f, sf.Type)
	case inOneof:
		err = b.oneofField(t, f, sf.Type)
	default:
		err = b.singleField(f, sf.Type)
	}
	if err != nil {
		return nil, err
	}
	if l.presenceWords > 0 && !inOneof && !fd.IsMap() {
		f.bit, f.hasBit = t.findBit(fd, l.presenceWords)
		if f.hasBit && f.form == formValue {
			f.form = formExplicit
		}
	}
	if fd.HasPresence() && f.form == formValue && f.kind != kindBytes {
		return nil, fmt.Errorf("its presence is kept in an unknown way")
	}
	if f.form == formValue && fd.HasPresence() {
		f.form = formExplicit // bytes: nil is absent
	}
	f.op = f.chooseOp()
	f.deref = f.form == formPointer
	return f, nil
}

// setKind reads from the descriptor what concerns the wire.
func (f *field) setKind(fd protoreflect.FieldDescriptor) {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		f.kind = kindBool
	case protoreflect.Int32Kind, protoreflect.EnumKind:
		f.kind = kindInt32
	case protoreflect.Uint32Kind:
		f.kind = kindUint32
	case protoreflect.Int64Kind, protoreflect.Uint64Kind:
		f.kind = kindVarint64
	case protoreflect.Sint32Kind:
		f.kind = kindSint32
	case protoreflect.Sint64Kind:
		f.kind = kindSint64
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		f.kind = kindFixed32
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		f.kind = kindFixed64
	case protoreflect.StringKind:
		f.kind = kindString
		f.utf8 = enforcesUTF8(fd)
	case protoreflect.BytesKind:
		f.kind = kindBytes
	case protoreflect.GroupKind:
		f.kind = kindGroup
	default:
		f.kind = kindMessage
	}
	f.wire = wireOfKind[f.kind]
	f.packed = fd.IsPacked()
	wire := f.wire
	if f.packed {
		wire = wireBytes
	}
	f.tag = protowire.EncodeTag(fd.Number(), protowire.Type(wire))
}

// enforcesUTF8 is protobuf's rule.
func enforcesUTF8(fd protoreflect.FieldDescriptor) bool {
	if fd.Syntax() == protoreflect.Editions {
		if fd, ok := fd.(interface{ EnforceUTF8() bool }); ok {
			return fd.EnforceUTF8()
		}
	}
	return fd.Syntax() == protoreflect.Proto3
}

// goKinds are the Go kinds that a value of each kind may have.
var goKinds = [...][]reflect.Kind{
	kindBool:     {reflect.Bool},
	kindInt32:    {reflect.Int32},
	kindUint32:   {reflect.Uint32},
	kindVarint64: {reflect.Int64, reflect.Uint64},
	kindSint32:   {reflect.Int32},
	kindSint64:   {reflect.Int64},
	kindFixed32:  {reflect.Int32, reflect.Uint32, reflect.Float32},
	kindFixed64:  {reflect.Int64, reflect.Uint64, reflect.Float64},
	kindString:   {reflect.String},
}

// checkGoType says whether values of the field's kind are kept as t.
func (b *builder) checkGoType(f *field, t reflect.Type) error {
	switch f.kind {
	case kindBytes:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
	case kindMessage, kindGroup:
		if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
			if m, ok := reflect.Zero(t).Interface().(proto.Message); ok {
				if mt, generated := m.ProtoReflect().Type().(*protoimpl.MessageInfo); generated {
					if f.sub = b.table(mt); f.sub.goType == t.Elem() {
						return nil
					}
				}
			}
		}
	default:
		for _, kind := range goKinds[f.kind] {
			if t.Kind() == kind {
				return nil
			}
		}
	}
	return fmt.Errorf("it is kept as %v", t)
}

func (b *builder) singleField(f *field, t reflect.Type) error {
	f.form = formValue
	if t.Kind() == reflect.Pointer {
		f.form = formPointer
		if f.kind != kindMessage && f.kind != kindGroup {
			t = t.Elem()
			if err := b.checkGoType(f, t); err != nil {
				return err
			}
			if f.kind == kindBytes {
				return fmt.Errorf("it is kept as *%v", t)
			}
			f.elem = typeOfKind[f.kind]
			return nil
		}
	}
	if err := b.checkGoType(f, t); err != nil {
		return err
	}
	if f.sub != nil {
		f.elem = f.sub.typ
	}
	return nil
}

func (b *builder) listField(f *field, t reflect.Type) error {
	f.form = formList
	if t.Kind() == reflect.Pointer {
		f.indirect = true
		t = t.Elem()
	}
	if t.Kind() != reflect.Slice {
		return fmt.Errorf("it is kept as %v", t)
	}
	if err := b.checkGoType(f, t.Elem()); err != nil {
		return err
	}
	if f.sub != nil {
		f.elem = f.sub.typ
		return nil
	}
	if f.indirect {
		return fmt.Errorf("it is kept as *%v", t)
	}
	f.elem = typeOfKind[f.kind]
	return nil
}

// oneofField asks protobuf for the wrapper that Go keeps the member in.
func (b *builder) oneofField(t *table, f *field, interfaceType reflect.Type) error {
	f.form = formOneof
	if interfaceType.Kind() != reflect.Interface || interfaceType.NumMethod() == 0 {
		return fmt.Errorf("its oneof is kept as %v", interfaceType)
	}
	m := t.mt.New()
	setProbe(m, f.desc)
	p := pointerOf(m.Interface())
	wrapper := reflect.NewAt(interfaceType, addressOf(p, f.offset)).Elem().Elem()
	if wrapper.Kind() != reflect.Pointer || wrapper.Elem().Kind() != reflect.Struct || wrapper.Elem().NumField() != 1 {
		return fmt.Errorf("its oneof holds a %v", wrapper.Type())
	}
	if err := b.checkGoType(f, wrapper.Elem().Field(0).Type()); err != nil {
		return err
	}
	f.elem = arena.TypeOf(wrapper.Elem().Type())
	f.oneof = &oneof{
		itab:    (*interfaceWords)(addressOf(p, f.offset)).itab,
		wrapper: wrapper.Type().Elem(),
		iface:   interfaceType,
	}
	return nil
}

func (b *builder) mapField(f *field, t reflect.Type) error {
	f.form = formMap
	if t.Kind() != reflect.Map {
		return fmt.Errorf("it is kept as %v", t)
	}
	e := &entry{maps: arena.MapTypeOf(t)}
	e.key.setKind(f.desc.MapKey())
	e.value.setKind(f.desc.MapValue())
	e.key.number, e.value.number = 1, 2
	e.value.form = formExplicit // an empty value is not nil
	if err := b.checkGoType(&e.key, t.Key()); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if err := b.checkGoType(&e.value, t.Elem()); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	if e.value.kind == kindGroup {
		return fmt.Errorf("its values are groups")
	}
	e.float = t.Elem().Kind() == reflect.Float32
	switch t.Key().Kind() {
	case reflect.Int32, reflect.Int64:
		e.signed = true
	}
	// A slot is a struct of both, and a byte that says whether it is in use.
	e.slotBytes = int64(t.Key().Size()+t.Elem().Size()+slotPaddingBytes) + 1
	f.entry = e
	return nil
}

// slotPaddingBytes is the most that alignment adds to a key and a value.
const slotPaddingBytes = 7

// chooseOp selects the decoder's way for the field.
func (f *field) chooseOp() op {
	switch {
	case f.form == formMap:
		return opMap
	case f.form == formList:
		switch f.kind {
		case kindMessage:
			return opMessageList
		case kindGroup:
			return opGroupList
		case kindString:
			return opStringList
		case kindBytes:
			return opBytesList
		default:
			return opScalarList
		}
	case f.form == formOneof:
		return opMember
	case f.kind == kindMessage:
		return opMessage
	case f.kind == kindGroup:
		return opGroup
	}
	return [...]op{
		kindBool: opBool, kindInt32: opVarint32, kindUint32: opVarint32, kindVarint64: opVarint64,
		kindSint32: opSint32, kindSint64: opSint64, kindFixed32: opFixed32, kindFixed64: opFixed64,
		kindString: opString, kindBytes: opBytes,
	}[f.kind]
}

// addressOf returns the address of what lies offset bytes into the struct at p.
func addressOf(p unsafe.Pointer, offset uintptr) unsafe.Pointer { return unsafe.Add(p, offset) }
