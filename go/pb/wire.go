package pb

import (
	"encoding/binary"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	wireVarint  = uint8(protowire.VarintType)
	wireFixed64 = uint8(protowire.Fixed64Type)
	wireBytes   = uint8(protowire.BytesType)
	wireStart   = uint8(protowire.StartGroupType)
	wireEnd     = uint8(protowire.EndGroupType)
	wireFixed32 = uint8(protowire.Fixed32Type)
)

// varint reads a varint of any length at b[i]. The position after it is negative when there is none.
func varint(b []byte, i int) (uint64, int) {
	var value uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if uint(i) >= uint(len(b)) {
			return 0, -1
		}
		c := b[i]
		i++
		if c < 0x80 {
			if shift == 63 && c > 1 {
				return 0, -1 // more than 64 bits
			}
			return value | uint64(c)<<shift, i
		}
		value |= uint64(c&0x7f) << shift
	}
	return 0, -1
}

// longVarint is varint for values that are hardly ever of one byte. It looks at eight bytes at once
// and has no branch that depends on how many of them the value takes.
func longVarint(b []byte, i int) (uint64, int) {
	if i+8 > len(b) {
		return varint(b, i)
	}
	x := binary.LittleEndian.Uint64(b[i:])
	ends := ^x & highBits
	if ends == 0 { // nine or ten bytes
		return varint(b, i)
	}
	return gather(x & (ends ^ (ends - 1))), i + bits.TrailingZeros64(ends)/8 + 1
}

// gather puts the low seven bits of every byte together.
func gather(x uint64) uint64 {
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

// length reads the length of a length-delimited value at b[i] and returns where the value starts and
// ends. The start is negative when it does not fit into b.
func length(b []byte, i int) (start, end int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		start = i + 1
		end = start + int(b[i])
		if end <= len(b) {
			return start, end
		}
		return -1, 0
	}
	n, start := varint(b, i)
	if start < 0 || n > uint64(len(b)-start) {
		return -1, 0
	}
	return start, start + int(n)
}

// skip returns the position after the value of a field, or a negative number. It accepts what
// protobuf accepts as an unknown field.
func skip(b []byte, i int, tag uint64) int {
	n := protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.Type(tag&7), b[i:])
	if n < 0 {
		return -1
	}
	return i + n
}

// runLength counts how many fields with the same tag bytes follow each other: b[start:i] is the first
// tag. It skips by length and never looks into a value. A malformed field ends the run and counts as
// one of it, so that whoever decodes the run meets the error.
func runLength(b []byte, start, i int) int {
	width := i - start
	wire := b[start] & 7
	n := 1
	for {
		switch wire {
		case wireVarint:
			_, i = varint(b, i)
		case wireFixed32:
			i += 4
		case wireFixed64:
			i += 8
		default:
			var from int
			if from, i = length(b, i); from < 0 {
				return n
			}
		}
		if i < 0 || !sameTag(b, start, i, width) {
			return n
		}
		i += width
		n++
	}
}

// sameTag reports whether the field at b[i] has the same tag bytes as the one at b[start], and a value.
func sameTag(b []byte, start, i, width int) bool {
	if i+width >= len(b) {
		return false
	}
	for k := range width {
		if b[i+k] != b[start+k] {
			return false
		}
	}
	return true
}

// littleEndian is how this machine lays out numbers. The wire's fixed ones are laid out so.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// countVarints returns how many varints end in b.
func countVarints(b []byte) int {
	n := 0
	if len(b) >= 8 {
		rest := uint(len(b) & 7) // bytes that are no whole word: the last of the last eight
		n = bits.OnesCount64(^binary.LittleEndian.Uint64(b[len(b)-8:]) & (highBits << (64 - 8*rest)))
		for ; len(b) >= 8; b = b[8:] {
			n += bits.OnesCount64(^binary.LittleEndian.Uint64(b) & highBits)
		}
		return n
	}
	for _, c := range b {
		n += int(^c >> 7)
	}
	return n
}

const highBits = 0x8080808080808080
