package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Call is one call as it was on the wire, uncompressed and without a frame.
type Call struct {
	Method   string // "/package.Service/Method"
	Request  []byte
	Response []byte    // nil when the call had none
	Time     time.Time // when the request was received; kept to the millisecond
}

// The fields of harena.replay.v1.Record.
const (
	methodField   protowire.Number = 1
	requestField  protowire.Number = 2
	responseField protowire.Number = 3
	timeField     protowire.Number = 4
)

// AppendRecord appends the call as a record of a capture file: its length as a varint, and its bytes.
func AppendRecord(b []byte, c Call) []byte {
	milliseconds := uint64(0)
	if !c.Time.IsZero() {
		milliseconds = uint64(c.Time.UnixMilli())
	}
	size := 3 + protowire.SizeBytes(len(c.Method)) + protowire.SizeBytes(len(c.Request)) + protowire.SizeVarint(milliseconds)
	if c.Response != nil {
		size += 1 + protowire.SizeBytes(len(c.Response))
	}
	if b == nil {
		b = make([]byte, 0, protowire.SizeVarint(uint64(size))+size)
	}
	b = protowire.AppendVarint(b, uint64(size))
	b = protowire.AppendString(protowire.AppendTag(b, methodField, protowire.BytesType), c.Method)
	b = protowire.AppendBytes(protowire.AppendTag(b, requestField, protowire.BytesType), c.Request)
	if c.Response != nil {
		b = protowire.AppendBytes(protowire.AppendTag(b, responseField, protowire.BytesType), c.Response)
	}
	return protowire.AppendVarint(protowire.AppendTag(b, timeField, protowire.VarintType), milliseconds)
}

// ErrDamaged is what [Reader.Next] returns for bytes that are no record. What follows them cannot be
// found.
var ErrDamaged = errors.New("harena/capture: the record is cut off or damaged; it and what follows in the file is lost")

// Reader reads the calls of one capture file, which may hold anything.
//
// Thread rule: one goroutine.
type Reader struct {
	from *bufio.Reader
}

// NewReader returns a reader of what r holds.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Next returns the next call, or io.EOF when there is none, or an error that is ErrDamaged, or the
// error of the reader below. Its bytes are the caller's. A length that is not there takes no memory.
func (r *Reader) Next() (Call, error) {
	size, err := r.length()
	if err != nil {
		return Call{}, err
	}
	data, err := io.ReadAll(io.LimitReader(r.from, size))
	if err != nil {
		return Call{}, fmt.Errorf("harena/capture: %w", err)
	}
	call, whole := parseRecord(data)
	if !whole || int64(len(data)) < size {
		return Call{}, ErrDamaged
	}
	return call, nil
}

func (r *Reader) length() (int64, error) {
	head, err := r.from.Peek(binary.MaxVarintLen64)
	size, n := binary.Uvarint(head)
	switch {
	case n > 0 && size <= math.MaxInt32:
		_, err = r.from.Discard(n)
		return int64(size), err
	case n == 0 && len(head) == 0 && err == io.EOF:
		return 0, io.EOF
	case n == 0 && err != nil && err != io.EOF:
		return 0, fmt.Errorf("harena/capture: %w", err)
	}
	return 0, ErrDamaged
}

func parseRecord(data []byte) (c Call, whole bool) {
	c.Request = []byte{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return c, false
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return c, false
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(data)
			switch number {
			case methodField:
				if c.Method = string(value); !utf8.ValidString(c.Method) {
					return c, false
				}
			case requestField:
				c.Request = value
			case responseField:
				c.Response = value
			}
		} else if kind == protowire.VarintType && number == timeField {
			milliseconds, _ := protowire.ConsumeVarint(data)
			c.Time = time.UnixMilli(int64(milliseconds))
		}
		data = data[n:]
	}
	return c, true
}
