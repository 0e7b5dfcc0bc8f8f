package codec

import (
	"buf.build/go/hyperpb"
	"google.golang.org/protobuf/proto"
)

// hyperpbDecoders are hyperpb's, with memory that is reused. Its messages are dynamic: fields are read
// through protobuf's reflection.
//
//	hyperpb            memory of a Shared, input copied
//	hyperpb_alias      the same; strings and bytes alias the input
//	hyperpb_alias_pgo  the same, compiled again with the profile of these very requests
func (p payload) hyperpbDecoders() []decoderRow {
	profiled := decoderRow{row: "hyperpb_alias_pgo", make: func() decoder {
		return p.hyperpb(p.hyperpbProfiled(), hyperpb.WithAllowAlias(true))
	}}
	if p.workload == "tile" {
		profiled.missing = hyperpbProfileMissing
	}
	return []decoderRow{
		{row: "hyperpb", make: func() decoder { return p.hyperpb(p.hyperpbType()) }},
		{row: "hyperpb_alias", make: func() decoder {
			return p.hyperpb(p.hyperpbType(), hyperpb.WithAllowAlias(true))
		}},
		profiled,
	}
}

func (p payload) hyperpbType() *hyperpb.MessageType {
	return hyperpb.CompileMessageDescriptor(p.descriptor())
}

func (p payload) hyperpbProfiled() *hyperpb.MessageType {
	plain := p.hyperpbType()
	requests, err := p.load()
	if err != nil {
		return plain // whoever measures finds the same error
	}
	profile := plain.NewProfile()
	for _, request := range requests.requests {
		// An input that does not decode is found when it is measured.
		_ = hyperpb.NewMessage(plain).Unmarshal(request, hyperpb.WithRecordProfile(profile, 1))
	}
	return plain.Recompile(profile)
}

func (p payload) hyperpb(compiled *hyperpb.MessageType, options ...hyperpb.UnmarshalOption) decoder {
	shared := new(hyperpb.Shared)
	return decoder{
		decode: func(b []byte) (proto.Message, error) {
			m := shared.NewMessage(compiled)
			return m, m.Unmarshal(b, options...)
		},
		read:     func(m proto.Message) uint64 { return readReflected(m.ProtoReflect()) },
		release:  func(proto.Message) { shared.Free() },
		standard: itself,
	}
}
