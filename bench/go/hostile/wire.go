// Package hostile makes requests that cost their sender little and their receiver as much as they can,
// in wire format, for any message type. The C++ tests have the same in pb/codec/test_hostile_wire.cc.
package hostile

import (
	"fmt"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Hostility is what a wire has most of.
type Hostility int

// The values of Hostility.
const (
	Wide        Hostility = iota // empty sub-messages, each as wide as its type
	Strings                      // empty strings, and such as are just not small
	Nested                       // messages in messages, lists in lists
	Maps                         // new keys and old ones, so that tables grow
	Unknown                      // fields that the type does not have
	Packed                       // packed and single elements of the same field in turn
	Groups                       // groups in groups that the type does not have
	Everything                   // all of these in turn
	hostilities = int(Everything)
)

func (h Hostility) String() string {
	return [...]string{"wide", "strings", "nested", "maps", "unknown", "packed", "groups", "everything"}[h]
}

// All returns every Hostility.
func All() []Hostility {
	var all []Hostility
	for h := range hostilities + 1 {
		all = append(all, Hostility(h))
	}
	return all
}

// levelsMax is below what every protobuf accepts.
const levelsMax = 90

// Wire returns about so many bytes of valid wire for the type; UTF-8 and required fields included.
// Equal arguments and dice give equal wires.
func Wire(md protoreflect.MessageDescriptor, h Hostility, bytes int, dice *rand.Rand) []byte {
	m := &maker{hostility: h, left: bytes, dice: dice}
	return m.message(md, bytes, 0)
}

type maker struct {
	hostility Hostility
	left      int // bytes, of the whole
	dice      *rand.Rand
}

func (m *maker) oneIn(n int) bool { return m.dice.IntN(n) == 0 }

func (m *maker) wants(h Hostility) bool {
	return m.hostility == h || m.hostility == Everything && m.oneIn(hostilities)
}

// message returns the fields of one message; share is about what they may take.
func (m *maker) message(md protoreflect.MessageDescriptor, share, depth int) []byte {
	wire := m.required(nil, md, depth)
	for len(wire) < share && m.left > 0 {
		piece := m.piece(md, share-len(wire), depth)
		m.left -= len(piece)
		// The same again and again: that is what costs its sender least.
		times := 1 + m.dice.IntN(4)
		if m.oneIn(3) {
			times = 1 + m.dice.IntN(400)
		}
		for range times {
			if wire = append(wire, piece...); len(wire) >= share {
				break
			}
		}
	}
	return wire
}

func (m *maker) required(wire []byte, md protoreflect.MessageDescriptor, depth int) []byte {
	for i := range md.Fields().Len() {
		if fd := md.Fields().Get(i); fd.Cardinality() == protoreflect.Required {
			wire = append(wire, m.known(fd, 0, depth)...)
		}
	}
	return wire
}

func (m *maker) piece(md protoreflect.MessageDescriptor, share, depth int) []byte {
	if m.wants(Unknown) && m.oneIn(2) {
		return m.unknown()
	}
	if m.wants(Groups) && m.oneIn(2) {
		return m.unknownGroups(depth)
	}
	if fd := m.choose(md); fd != nil {
		return m.known(fd, share, depth)
	}
	return m.unknown()
}

// choose returns a field of the kind that is asked for, where the type has some.
func (m *maker) choose(md protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	fields := md.Fields()
	var fits []protoreflect.FieldDescriptor
	for i := range fields.Len() {
		fd := fields.Get(i)
		text := fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind
		message := fd.Message() != nil
		var fit bool
		switch m.hostility {
		case Wide, Nested, Groups:
			fit = message
		case Strings:
			fit = text || message
		case Maps:
			fit = fd.IsMap() || message
		case Packed:
			fit = !text
		}
		if fit {
			fits = append(fits, fd)
		}
	}
	switch {
	case fields.Len() == 0:
		return nil
	case len(fits) == 0 || m.oneIn(20):
		return fields.Get(m.dice.IntN(fields.Len()))
	}
	return fits[m.dice.IntN(len(fits))]
}

func (m *maker) known(fd protoreflect.FieldDescriptor, share, depth int) []byte {
	switch {
	case fd.Kind() == protoreflect.GroupKind:
		wire := protowire.AppendTag(nil, fd.Number(), protowire.StartGroupType)
		wire = append(wire, m.inside(fd.Message(), share, depth)...)
		return protowire.AppendTag(wire, fd.Number(), protowire.EndGroupType)
	case fd.IsMap():
		return delimited(fd.Number(), m.entry(fd.Message(), share, depth))
	case fd.Message() != nil:
		return delimited(fd.Number(), m.inside(fd.Message(), share, depth))
	case fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind:
		return delimited(fd.Number(), m.text())
	case fd.IsList() && m.oneIn(2):
		count := m.dice.IntN(10)
		if m.oneIn(4) {
			count = m.dice.IntN(3000)
		}
		var packed []byte
		for range count {
			packed, _ = m.value(packed, fd.Kind())
		}
		return delimited(fd.Number(), packed)
	}
	value, wireType := m.value(nil, fd.Kind())
	return append(protowire.AppendTag(nil, fd.Number(), wireType), value...)
}

func (m *maker) inside(md protoreflect.MessageDescriptor, share, depth int) []byte {
	switch {
	case depth >= levelsMax:
		if depth < levelsMax+5 {
			return m.required(nil, md, depth+1)
		}
		return nil
	case m.wants(Wide) || m.oneIn(3):
		return m.message(md, 0, depth+1)
	case m.wants(Nested):
		return m.message(md, share-share/4, depth+1)
	}
	return m.message(md, min(share, m.dice.IntN(60)), depth+1)
}

func (m *maker) entry(md protoreflect.MessageDescriptor, share, depth int) (wire []byte) {
	key, value := md.Fields().ByNumber(1), md.Fields().ByNumber(2)
	if !m.oneIn(10) {
		if key.Kind() == protoreflect.StringKind {
			wire = delimited(1, fmt.Appendf(nil, "a key of some length, %d", m.dice.IntN(100_000)))
		} else {
			wire = m.known(key, 0, depth+1)
		}
	}
	if m.oneIn(2) {
		wire = append(wire, m.known(value, share/8, depth+1)...)
	}
	if m.oneIn(30) {
		wire = append(wire, m.unknown()...)
	}
	return wire
}

func (m *maker) text() []byte {
	size := 14 + m.dice.IntN(4)
	switch {
	case m.oneIn(40):
		size = m.dice.IntN(3000)
	case m.oneIn(2):
		size = 0
	}
	text := make([]byte, size)
	for i := range text {
		text[i] = 't'
	}
	return text
}

func (m *maker) value(wire []byte, kind protoreflect.Kind) ([]byte, protowire.Type) {
	switch kind {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.AppendFixed32(wire, 0x01010101), protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.AppendFixed64(wire, 0x0101010101010101), protowire.Fixed64Type
	}
	number := uint64(77) // which many enums do not know
	if m.oneIn(4) {
		number = m.dice.Uint64() >> m.dice.IntN(64)
	}
	return protowire.AppendVarint(wire, number), protowire.VarintType
}

// unknown returns a field of few bytes, mostly, with a number that few types have.
func (m *maker) unknown() []byte {
	number := protowire.Number(1013 + m.dice.IntN(3))
	if m.oneIn(2) {
		number = protowire.Number(1900 + m.dice.IntN(90))
	}
	switch m.dice.IntN(5) {
	case 0:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(m.dice.IntN(300)))
	case 1:
		return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), 4)
	case 2:
		return protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), 8)
	case 3:
		return delimited(number, make([]byte, m.dice.IntN(40)))
	}
	return emptyGroup(number)
}

func (m *maker) unknownGroups(depth int) (wire []byte) {
	var open []protowire.Number
	for range m.dice.IntN(max(1, levelsMax+1-depth)) {
		number := protowire.Number(2000 + m.dice.IntN(30))
		open = append(open, number)
		wire = protowire.AppendTag(wire, number, protowire.StartGroupType)
		if m.oneIn(4) {
			wire = append(wire, m.unknown()...)
		}
	}
	for i := range open {
		wire = protowire.AppendTag(wire, open[len(open)-1-i], protowire.EndGroupType)
	}
	return wire
}

func emptyGroup(number protowire.Number) []byte {
	return protowire.AppendTag(protowire.AppendTag(nil, number, protowire.StartGroupType), number, protowire.EndGroupType)
}

func delimited(number protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), body)
}
