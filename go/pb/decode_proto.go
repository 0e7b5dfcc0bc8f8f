package pb

import (
	"reflect"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// messageOf returns the message at p.
func (t *table) messageOf(p unsafe.Pointer) proto.Message {
	return reflect.NewAt(t.goType, p).Interface().(proto.Message)
}

// needsProto reports whether protobuf has to decode into the message: it has no table, or it holds
// fields that were not decoded yet.
func (d *decoder) needsProto(t *table, p unsafe.Pointer) bool {
	return t.fallback != "" ||
		t.lazyOffset != noOffset && *(*unsafe.Pointer)(unsafe.Add(p, t.lazyOffset)) != nil
}

// messageByProto leaves a message of a type that has no table to protobuf.
func (d *decoder) messageByProto(t *table, p unsafe.Pointer, i, end int, group uint32) int {
	input, next := d.buf[i:end], end
	if group != 0 {
		content, n := protowire.ConsumeGroup(protowire.Number(group), input)
		if n < 0 {
			return d.fail(errDecode)
		}
		input, next = content, i+n
	}
	d.unsure = d.unsure || t.needsInit
	if !d.chargeProto(t, input) || !d.mergeByProto(t.messageOf(p), input, d.depth+1, t.extendable) {
		return -1
	}
	d.depth++
	return next
}

// unknown keeps a field that the table has no use for: buf[start:i] is its tag, and f the field with
// that number, if there is one, which then has another wire type. d.strange[from:] is the message's.
func (d *decoder) unknown(t *table, p unsafe.Pointer, f *field, start, i, end, from int) int {
	buf := d.buf[:end]
	tag, value := varint(buf, start)
	if i = skip(buf, i, tag); i < 0 {
		return d.fail(errDecode)
	}
	if f == nil && t.extensionOffset != noOffset {
		if !d.appendStrange(buf[start:i]) {
			return -1
		}
	} else if !d.options.DiscardUnknown && t.unknownOffset != noOffset {
		// Those before it may be unknown too, and the order counts.
		if len(d.strange) > from && !d.extensions(t, p, from) {
			return -1
		}
		if !d.appendUnknown((*[]byte)(unsafe.Add(p, t.unknownOffset)), tag, buf[value:i]) {
			return -1
		}
	}
	return i
}

// extensions leaves d.strange[from:], the fields of the message at p that its table does not know, to
// protobuf: they are extensions, or unknown.
func (d *decoder) extensions(t *table, p unsafe.Pointer, from int) bool {
	input := d.strange[from:]
	d.strange = d.strange[:from]
	d.unsure = true
	if (d.options.Limits.BytesMax > 0 || d.arena.HasBudget()) && !d.chargeExtensions(t, input) {
		return false
	}
	// The message itself was counted when it was entered.
	return d.mergeByProto(t.messageOf(p), input, d.depth+1, true)
}

// mergeByProto has protobuf decode fields of m, which is one of `depth` levels that are left. REQUIRES:
// extendable says whether extensions are possible in m or below.
func (d *decoder) mergeByProto(m proto.Message, input []byte, depth int, extendable bool) bool {
	if extendable && d.tooDeep(m.ProtoReflect().Descriptor(), input, depth) {
		d.failDepth()
		return false
	}
	err := proto.UnmarshalOptions{
		Merge:          true,
		AllowPartial:   true,
		DiscardUnknown: d.options.DiscardUnknown,
		Resolver:       d.options.Resolver,
		RecursionLimit: depth,
	}.Unmarshal(input, m)
	switch {
	case err == nil:
		return true
	case d.options.Limits.DepthMax > 0 && strings.Contains(err.Error(), depthText):
		d.failDepth()
	default:
		d.fail(err)
	}
	return false
}

// appendStrange collects a field that may be an extension, outside of the arena: it is soon dropped.
func (d *decoder) appendStrange(field []byte) bool {
	if needed := len(d.strange) + len(field); needed > cap(d.strange) {
		capacity := max(2*cap(d.strange), needed, 64)
		if !d.chargeOutside(int64(capacity)) {
			return false
		}
		d.strange = append(make([]byte, 0, capacity), d.strange...)
	}
	d.strange = append(d.strange, field...)
	return true
}

// appendUnknown appends to a message's unknown fields, with the tag in its shortest form, as protobuf
// does. They are in the arena as the rest is.
func (d *decoder) appendUnknown(at *[]byte, tag uint64, value []byte) bool {
	old := *at
	needed := len(old) + protowire.SizeVarint(tag) + len(value)
	if needed > cap(old) {
		capacity := max(2*cap(old), needed)
		ptr := d.alloc(byteType, capacity)
		if ptr == nil {
			return false
		}
		grown := unsafe.Slice((*byte)(ptr), capacity)
		old = grown[:copy(grown, old)]
	}
	*at = append(protowire.AppendVarint(old, tag), value...)
	return true
}
