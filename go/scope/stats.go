package scope

import "github.com/harena-project/harena/go/arena"

// Stats says what the scopes of one pool did. Counts since the start.
type Stats struct {
	ScopesStarted  uint64
	ScopesEnded    uint64 // abandoned ones included
	ScopesRetained uint64 // of those ended: left to the garbage collector
	ScopesRefused  uint64 // requests that crossed a limit
	RefusedBy      RefusedBy

	BytesUsedMax int64          // the most that one ended scope used
	BytesUsedSum int64          // of all ended scopes
	BytesUsed    BytesHistogram // the ended scopes, by the bytes that they used

	WireBytes int64  // of requests that came to Harena's codec, as they came
	Uncovered uint64 // messages in mode codec that another codec decoded, so that they were on the heap

	Decoding, Encoding StepTimes // of one scope in 64

	Arenas arena.PoolStats // where the memory comes from
}

// ScopesAlive returns how many have not ended.
func (s Stats) ScopesAlive() uint64 { return s.ScopesStarted - s.ScopesEnded }

// WireBytesKnown reports false when nothing of what was served came to Harena's codec.
func (s Stats) WireBytesKnown() bool { return s.WireBytes != 0 || s.ScopesEnded == 0 }

// Stats returns the pool's counts. They are read one by one while scopes begin and end.
func (p *Pool) Stats() Stats {
	// Ended before started: a scope that does both in between must not make ScopesAlive wrap round.
	ended := p.ended.Load()
	refused := p.refusedBy()
	return Stats{
		ScopesStarted:  p.started.Load(),
		ScopesEnded:    ended,
		ScopesRetained: p.retained.Load(),
		ScopesRefused:  refused.Total(),
		RefusedBy:      refused,
		BytesUsedMax:   p.bytesUsedMax.Load(),
		BytesUsedSum:   p.bytesUsedSum.Load(),
		BytesUsed:      p.bytesUsed.load(),
		WireBytes:      p.wireBytes.Load(),
		Uncovered:      p.uncovered.Load(),
		Decoding:       p.decoding.load(),
		Encoding:       p.encoding.load(),
		Arenas:         p.arenas.Stats(),
	}
}
