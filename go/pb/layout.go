package pb

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"
)

// layout is where protoc-gen-go put what in a struct.
type layout struct {
	byNumber      map[protoreflect.FieldNumber]reflect.StructField
	byOneof       map[protoreflect.Name]reflect.StructField
	presenceWords int
}

// readLayout finds the fields of the struct by their tags, and the parts without one by their names.
func readLayout(t *table) (*layout, error) {
	l := &layout{
		byNumber: make(map[protoreflect.FieldNumber]reflect.StructField),
		byOneof:  make(map[protoreflect.Name]reflect.StructField),
	}
	for i := range t.goType.NumField() {
		sf := t.goType.Field(i)
		switch sf.Name {
		case "unknownFields", "XXX_unrecognized":
			if sf.Type.Kind() != reflect.Slice || sf.Type.Elem().Kind() != reflect.Uint8 {
				return nil, fmt.Errorf("its unknown fields are a %v", sf.Type)
			}
			t.unknownOffset = sf.Offset
			continue
		case "extensionFields", "XXX_InternalExtensions":
			if sf.Type != reflect.TypeFor[protoimpl.ExtensionFields]() {
				return nil, fmt.Errorf("its extensions are a %v", sf.Type)
			}
			t.extensionOffset = sf.Offset
			continue
		case "XXX_presence":
			if sf.Type.Kind() != reflect.Array || sf.Type.Elem().Kind() != reflect.Uint32 {
				return nil, fmt.Errorf("its presence bits are a %v", sf.Type)
			}
			t.presenceOffset = sf.Offset
			l.presenceWords = sf.Type.Len()
			t.presenceBits = uint32(32 * sf.Type.Len())
			continue
		case "XXX_lazyUnmarshalInfo":
			if sf.Type.Kind() != reflect.Pointer {
				return nil, fmt.Errorf("its lazy fields are a %v", sf.Type)
			}
			t.lazyOffset = sf.Offset
			continue
		}
		if tag, ok := sf.Tag.Lookup("protobuf"); ok {
			parts := strings.SplitN(tag, ",", 3)
			if len(parts) < 2 {
				return nil, fmt.Errorf("the tag of %s is %q", sf.Name, tag)
			}
			number, err := strconv.Atoi(parts[1])
			if err != nil {
				return nil, fmt.Errorf("the tag of %s is %q", sf.Name, tag)
			}
			l.byNumber[protoreflect.FieldNumber(number)] = sf
		} else if name, ok := sf.Tag.Lookup("protobuf_oneof"); ok {
			l.byOneof[protoreflect.Name(name)] = sf
		}
	}
	return l, nil
}
