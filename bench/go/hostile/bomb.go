package hostile

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// EmptyMessages returns about so many bytes of wire: empty messages in the field of that number. Two
// bytes of it become a message and a place in a list. The number is below 16.
func EmptyMessages(number protowire.Number, size int) []byte {
	return bytes.Repeat(delimited(number, nil), size/2)
}

// DeepGroups returns groups in groups, with a number that no type has, so many levels deep.
func DeepGroups(levels int) (wire []byte) {
	const number = 1 << 20
	for range levels {
		wire = protowire.AppendTag(wire, number, protowire.StartGroupType)
	}
	for range levels {
		wire = protowire.AppendTag(wire, number, protowire.EndGroupType)
	}
	return wire
}
