package codec

import "google.golang.org/protobuf/proto"

// standardDecoders are protobuf's and vtprotobuf's.
//
//	proto           proto.Unmarshal
//	vt              vtprotobuf; does not check UTF-8
//	vt_unsafe       the same; strings and bytes alias the input
//	vt_pool         vtprotobuf with its pools: messages are reused, strings are not
//	vt_pool_unsafe  both
func (p payload) standardDecoders() []decoderRow {
	return []decoderRow{
		{row: "proto", make: func() decoder {
			return p.fresh(func(b []byte, m message) error { return proto.Unmarshal(b, m) })
		}},
		{row: "vt", make: func() decoder {
			return p.fresh(func(b []byte, m message) error { return m.UnmarshalVT(b) })
		}},
		{row: "vt_unsafe", make: func() decoder {
			return p.fresh(func(b []byte, m message) error { return m.UnmarshalVTUnsafe(b) })
		}},
		{row: "vt_pool", make: func() decoder {
			return p.pooled(func(b []byte, m message) error { return m.UnmarshalVT(b) })
		}},
		{row: "vt_pool_unsafe", make: func() decoder {
			return p.pooled(func(b []byte, m message) error { return m.UnmarshalVTUnsafe(b) })
		}},
	}
}

// fresh decodes into a new message each time.
func (p payload) fresh(unmarshal func([]byte, message) error) decoder {
	return decoder{
		decode: func(b []byte) (proto.Message, error) {
			m := p.onHeap()
			return m, unmarshal(b, m)
		},
		read:     p.read,
		release:  keep,
		standard: itself,
	}
}

// pooled decodes into messages of vtprotobuf's pool.
func (p payload) pooled(unmarshal func([]byte, message) error) decoder {
	return decoder{
		decode: func(b []byte) (proto.Message, error) {
			m := p.fromPool()
			return m, unmarshal(b, m)
		},
		read:    func(m proto.Message) uint64 { return p.read(p.plain(m.(pooledMessage))) },
		release: func(m proto.Message) { m.(pooledMessage).ReturnToVTPool() },
		standard: func(m proto.Message) proto.Message {
			// Not plain: a message knows its type, and a cast does not change what it knows.
			same := p.onHeap()
			if b, err := proto.Marshal(m); err != nil || proto.Unmarshal(b, same) != nil {
				return nil
			}
			return same
		},
	}
}
