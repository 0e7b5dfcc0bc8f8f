package pb

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/harena-project/harena/go/arena"
)

// decoder is one call of Unmarshal. Positions are indices into buf; a negative one means that err is
// set and everything is to be left.
type decoder struct {
	arena  *arena.Arena
	root   *table
	buf    []byte
	text   string // the same bytes, if they are immutable
	shared bool   // they are

	// See decode_text.go.
	block                 unsafe.Pointer
	blockUsed, blockBytes int
	blocksUsed            int // of the blocks before

	// The messages of the lists that are open. They are moved to their list when it is complete.
	elements     []unsafe.Pointer
	elementsPeak int

	left    int64 // of the byte limit
	worst   int64 // see worstExtension; 0 until it is asked for
	depth   int   // levels left
	options UnmarshalOptions
	strange []byte // fields that may be extensions, of all messages that are open
	unsure  bool   // something required may be missing
	err     error
}

// decoders are kept because a decoder does not stay on the stack: protobuf may see parts of it.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

func (d *decoder) fail(err error) int {
	if d.err == nil {
		d.err = err
	}
	return -1
}

// charge counts memory that is about to be taken, and fails when the limit does not allow it.
func (d *decoder) charge(bytes int64) bool {
	d.left -= bytes
	return d.left >= 0 || d.failBytes()
}

func (d *decoder) failBytes() bool {
	d.fail(&LimitError{Limit: limitBytes, Max: d.options.Limits.BytesMax, Wanted: d.taken()})
	return false
}

// taken returns the bytes that were charged.
func (d *decoder) taken() int64 {
	if bytesMax := d.options.Limits.BytesMax; bytesMax > 0 {
		return bytesMax - d.left
	}
	return math.MaxInt64 - d.left
}

// alloc takes n zero values from the arena, or fails and returns nil.
func (d *decoder) alloc(t *arena.Type, n int) unsafe.Pointer {
	if !d.charge(int64(n) * int64(t.Size())) {
		return nil
	}
	ptr := t.NewArray(d.arena, n)
	if ptr == nil {
		d.failArena()
	}
	return ptr
}

// allocOne takes one zero value from the arena, or fails and returns nil.
func (d *decoder) allocOne(t *arena.Type) unsafe.Pointer {
	if !d.charge(int64(t.Size())) {
		return nil
	}
	ptr := t.New(d.arena)
	if ptr == nil {
		d.failArena()
	}
	return ptr
}

// chargeOutside is charge for memory that is not the arena's but lives as long.
func (d *decoder) chargeOutside(bytes int64) bool {
	if !d.charge(bytes) {
		return false
	}
	if !d.arena.TakeBudget(bytes) {
		d.failArena()
		return false
	}
	return true
}

// failArena is for allocations that the arena refused.
func (d *decoder) failArena() {
	if over := d.arena.OverBudget(); over != nil {
		d.fail(&LimitError{Limit: over.Budget, Max: over.BytesMax, Taken: over.BytesTaken, Wanted: d.taken()})
		return
	}
	d.fail(&LimitError{Limit: limitArena, Wanted: d.taken()})
}

// behind returns what the pointer at `at` points to, made where it is nil. It fails and returns nil when
// there is no memory for it.
func (d *decoder) behind(at unsafe.Pointer, t *arena.Type) unsafe.Pointer {
	cell := (*unsafe.Pointer)(at)
	if *cell == nil {
		*cell = d.allocOne(t)
	}
	return *cell
}

// message decodes the fields in buf[i:end] into the struct at p, or up to the end of a group.
func (d *decoder) message(t *table, p unsafe.Pointer, i, end int, group uint32) int {
	if d.depth--; d.depth < 0 {
		return d.failDepth()
	}
	if t.special && d.needsProto(t, p) {
		return d.messageByProto(t, p, i, end, group)
	}
	buf := d.buf[:end]
	strange := len(d.strange)
	for i < len(buf) {
		start := i
		tag := uint64(buf[i])
		i++
		var f *field
		var at unsafe.Pointer
		if tag < 0x80 {
			f = t.byTag[tag]
		}
		if f == nil { // not the usual: a long tag, an unknown field, an unexpected wire type, an end
			if tag >= 0x80 {
				if tag, i = varint(buf, start); i < 0 {
					return d.fail(errDecode)
				}
			}
			number, wire := tag>>3, uint8(tag&7)
			if number-1 >= uint64(protowire.MaxValidNumber) {
				return d.fail(errDecode)
			}
			if wire == wireEnd {
				if uint32(number) != group {
					return d.fail(errDecode)
				}
				group = 0
				break
			}
			if f = t.find(number); f == nil || !f.accepts(wire) {
				if f != nil && f.op == opMap && d.depth < 1 { // protobuf looks at the depth first
					return d.failDepth()
				}
				goto unknown
			}
		}
		at = unsafe.Add(p, f.offset)
		if f.deref {
			if at = d.behind(at, f.elem); at == nil {
				return -1
			}
		}
		switch f.op {
		case opString:
			var to int
			if i < len(buf) && buf[i] < 0x80 {
				to = i + 1 + int(buf[i])
				i++
				if to > len(buf) {
					return d.fail(errDecode)
				}
			} else if i, to = length(buf, i); i < 0 {
				return d.fail(errDecode)
			}
			text, ok := d.textAt(i, to, f.utf8)
			if !ok {
				return -1
			}
			*(*string)(at) = text
			i = to
		case opVarint32, opVarint64, opBool, opSint32, opSint64:
			var v uint64
			if i < len(buf) && buf[i] < 0x80 {
				v = uint64(buf[i])
				i++
			} else if v, i = longVarint(buf, i); i < 0 {
				return d.fail(errDecode)
			}
			switch f.op {
			case opVarint64:
				*(*uint64)(at) = v
			case opVarint32:
				*(*uint32)(at) = uint32(v)
			default:
				storeVarint(f.kind, at, v)
			}
		case opFixed32:
			if len(buf)-i < 4 {
				return d.fail(errDecode)
			}
			*(*uint32)(at) = binary.LittleEndian.Uint32(buf[i:])
			i += 4
		case opFixed64:
			if len(buf)-i < 8 {
				return d.fail(errDecode)
			}
			*(*uint64)(at) = binary.LittleEndian.Uint64(buf[i:])
			i += 8
		case opMessage:
			from, to := length(buf, i)
			if from < 0 {
				return d.fail(errDecode)
			}
			if i = d.message(f.sub, at, from, to, 0); i < 0 {
				return i
			}
		case opMessageList:
			if i = d.messageList(f, p, start, i, end); i < 0 {
				return i
			}
		case opMap:
			if i = d.mapEntry(f, p, i, end); i < 0 {
				return i
			}
		case opBytes:
			from, to := length(buf, i)
			if from < 0 {
				return d.fail(errDecode)
			}
			if i = d.bytes(f, (*[]byte)(at), from, to); i < 0 {
				return i
			}
		case opScalarList:
			if i = d.scalarList(f, p, start, i, end); i < 0 {
				return i
			}
		case opStringList, opBytesList:
			if i = d.textList(f, p, start, i, end); i < 0 {
				return i
			}
		case opGroup:
			if i = d.message(f.sub, at, i, end, f.number); i < 0 {
				return i
			}
		case opGroupList:
			if i = d.groupList(f, p, i, end); i < 0 {
				return i
			}
		default:
			if i = d.member(f, p, i, end); i < 0 {
				return i
			}
		}
		if f.hasBit {
			t.setPresent(p, f.bit)
		}
		continue

	unknown:
		if i = d.unknown(t, p, f, start, i, end, strange); i < 0 {
			return i
		}
	}
	if group != 0 {
		return d.fail(errDecode)
	}
	if len(d.strange) > strange && !d.extensions(t, p, strange) {
		return -1
	}
	if len(t.required) > 0 && t.lacks(p) {
		d.unsure = true
	}
	d.depth++
	return i
}

// storeVarint stores the value of a varint in the form of its kind.
func storeVarint(k kind, at unsafe.Pointer, v uint64) {
	switch k {
	case kindBool:
		*(*bool)(at) = v != 0
	case kindVarint64:
		*(*uint64)(at) = v
	case kindSint32:
		*(*int32)(at) = int32(protowire.DecodeZigZag(v & math.MaxUint32))
	case kindSint64:
		*(*int64)(at) = protowire.DecodeZigZag(v)
	default:
		*(*uint32)(at) = uint32(v)
	}
}

func (d *decoder) failDepth() int {
	if limit := d.options.Limits.DepthMax; limit > 0 {
		return d.fail(&LimitError{Limit: limitDepth, Max: int64(limit), Wanted: int64(limit) + 1})
	}
	return d.fail(errDepth)
}

// bytes copies buf[from:to] into the arena. An empty value is nil where protobuf makes it nil.
func (d *decoder) bytes(f *field, at *[]byte, from, to int) int {
	if from == to {
		if f.form == formValue {
			*at = nil
		} else {
			*at = empty[:0:0]
		}
		return to
	}
	ptr := d.alloc(byteType, to-from)
	if ptr == nil {
		return -1
	}
	copied := unsafe.Slice((*byte)(ptr), to-from)
	copy(copied, d.buf[from:to])
	*at = copied
	return to
}

// empty is what an empty value that is present points to.
var empty [1]byte
