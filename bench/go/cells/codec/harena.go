package codec

import (
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
)

// harenaDecoders are Harena's.
//
//	harena          an arena that is reset after each message; strings are parts of one copy
//	harena_alias    the same; strings alias the input
//	harena_dropped  an arena whose memory is never reused (Retain): everything stays valid for ever
//	harena_heap     without an arena
func (p payload) harenaDecoders() []decoderRow {
	return []decoderRow{
		{row: "harena", make: func() decoder { return p.harena(pb.UnmarshalOptions{}, false) }},
		{row: "harena_alias", make: func() decoder { return p.harena(pb.UnmarshalOptions{AliasInput: true}, false) }},
		{row: "harena_dropped", make: func() decoder { return p.harena(pb.UnmarshalOptions{}, true) }},
		{row: "harena_heap", make: func() decoder {
			return p.fresh(func(b []byte, m message) error { return pb.Unmarshal(nil, b, m) })
		}},
	}
}

func (p payload) harena(options pb.UnmarshalOptions, drop bool) decoder {
	a := arena.New()
	return decoder{
		decode: func(b []byte) (proto.Message, error) {
			m := p.onArena(a)
			return m, options.Unmarshal(a, b, m)
		},
		read: p.read,
		release: func(proto.Message) {
			if drop {
				a.Retain()
			}
			a.Reset()
		},
		standard: itself,
	}
}
