package codec

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/cells"
	"github.com/harena-project/harena/go/pb"
)

// encoder is one way to encode a message. The second argument is memory that may be used.
type encoder struct {
	row    string
	encode func(m message, buffer []byte) ([]byte, error)
}

// encoders: the rows `_reused` write into the same buffer each time, the others into new memory.
var encoders = []encoder{
	{"proto", func(m message, _ []byte) ([]byte, error) { return proto.Marshal(m) }},
	{"proto_reused", func(m message, b []byte) ([]byte, error) {
		return proto.MarshalOptions{}.MarshalAppend(b[:0], m)
	}},
	{"vt", func(m message, _ []byte) ([]byte, error) { return m.MarshalVT() }},
	{"vt_reused", func(m message, b []byte) ([]byte, error) {
		size := m.SizeVT()
		if cap(b) < size {
			b = make([]byte, size)
		}
		n, err := m.MarshalToSizedBufferVT(b[:size])
		return b[size-n : size], err
	}},
	{"harena", func(m message, _ []byte) ([]byte, error) { return pb.Marshal(m) }},
	{"harena_reused", func(m message, b []byte) ([]byte, error) {
		return pb.MarshalOptions{}.MarshalAppend(b[:0], m)
	}},
}

func (p payload) encodeCells() []cells.Cell {
	var all []cells.Cell
	for _, e := range encoders {
		all = append(all, cells.Cell{
			Group: p.group("marshal"), Row: e.row, Unit: "message", Units: 1,
			Make: func() (cells.Body, error) { return p.encodeBody(e) },
		})
	}
	return append(all, p.missing("marshal", "hyperpb", hyperpbMarshalMissing),
		p.missing("marshal", "easyproto", easyprotoMissing))
}

func (p payload) encodeBody(e encoder) (cells.Body, error) {
	requests, err := p.load()
	if err != nil {
		return cells.Body{}, err
	}
	var messages []message
	for _, request := range requests.requests {
		m := p.onHeap()
		if err := proto.Unmarshal(request, m); err != nil {
			return cells.Body{}, err
		}
		messages = append(messages, m)
	}
	next, buffer := 0, []byte(nil)
	op := func() {
		out, err := e.encode(messages[next], buffer)
		if err != nil {
			panic(fmt.Sprintf("bench/codec: %s: %v", p.workload, err))
		}
		if cap(out) > cap(buffer) {
			buffer = out
		}
		if next++; next == len(messages) {
			next = 0
		}
	}
	return cells.Body{Op: op, Check: func() error { return p.checkEncoder(e, messages) }}, nil
}

func (p payload) checkEncoder(e encoder, messages []message) error {
	for _, m := range messages[:min(len(messages), checkedRequests)] {
		out, err := e.encode(m, nil)
		if err != nil {
			return err
		}
		decoded := p.onHeap()
		if err := proto.Unmarshal(out, decoded); err != nil {
			return err
		}
		got, err := proto.MarshalOptions{Deterministic: true}.Marshal(decoded)
		if err != nil {
			return err
		}
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return err
		}
		if len(out) != len(want) || !bytes.Equal(got, want) {
			return fmt.Errorf("%s: %d bytes that are another message than protobuf's %d", p.workload, len(out), len(want))
		}
	}
	return nil
}
