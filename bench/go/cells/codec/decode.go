package codec

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/cells"
)

// decoder is one way to decode a payload.
type decoder struct {
	decode func([]byte) (proto.Message, error)
	// read reads every field of what decode returned.
	read func(proto.Message) uint64
	// release ends the message, where somebody has to.
	release func(proto.Message)
	// standard returns the message as one that can be compared with protobuf's.
	standard func(proto.Message) proto.Message
}

// decoderRow makes a decoder for each goroutine that needs one.
type decoderRow struct {
	row     string
	make    func() decoder
	missing string // see cells.Cell
}

func (p payload) decoders() []decoderRow {
	rows := append(p.standardDecoders(), p.hyperpbDecoders()...)
	return append(rows, p.harenaDecoders()...)
}

func (p payload) decodeCells(work string, read bool) []cells.Cell {
	var all []cells.Cell
	for _, r := range p.decoders() {
		if r.missing != "" {
			all = append(all, p.missing(work, r.row, r.missing))
			continue
		}
		all = append(all, cells.Cell{
			Group: p.group(work), Row: r.row, Unit: "message", Units: 1,
			Make: func() (cells.Body, error) { return p.decodeBody(r.make(), read) },
		})
	}
	return append(all, p.missing(work, "easyproto", easyprotoMissing))
}

func (p payload) decodeBody(d decoder, read bool) (cells.Body, error) {
	requests, err := p.load()
	if err != nil {
		return cells.Body{}, err
	}
	sum := new(uint64) // keeps the compiler from dropping what is only read
	op := func() {
		m, err := d.decode(requests.take())
		if err != nil {
			panic(fmt.Sprintf("bench/codec: %s: %v", p.workload, err))
		}
		if read {
			*sum += d.read(m)
		}
		d.release(m)
	}
	body := cells.Body{Op: op}
	if read { // those who do not read decode in the same way
		body.Check = func() error { return p.checkDecoder(d, requests.requests) }
	}
	return body, nil
}

// checkedRequests bounds how many of the requests a check goes through.
const checkedRequests = 2

func (p payload) checkDecoder(d decoder, requests [][]byte) error {
	for i, request := range requests[:min(len(requests), checkedRequests)] {
		want, err := p.wanted(i)
		if err != nil {
			return err
		}
		m, err := d.decode(request)
		if err != nil {
			return err
		}
		if got := d.standard(m); !proto.Equal(got, want.message) {
			return fmt.Errorf("%s: a message that differs from protobuf's", p.workload)
		}
		if got := d.read(m); got != want.sum {
			return fmt.Errorf("%s: reading gives %d; protobuf's reflection gives %d", p.workload, got, want.sum)
		}
		d.release(m)
	}
	return nil
}

func keep(proto.Message) {}

func itself(m proto.Message) proto.Message { return m }
