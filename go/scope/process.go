package scope

import "github.com/harena-project/harena/go/arena"

// Names of limits, as [Pool.Refuse] and the adapters' errors have them.
const (
	RequestBytesMax = "RequestBytesMax"
	ProcessBytesMax = "ProcessBytesMax"
	DecodedRatioMax = "DecodedRatioMax"
	DepthMax        = "DepthMax"
)

var process = &arena.Budget{Name: ProcessBytesMax}

// ProcessBudget returns what all scopes of the process share, and what ProcessBytesMax bounds: the
// arenas of scopes that have not ended, the bytes of their requests, and what decoding takes beside
// arenas. Without a bound, which is the default, it only counts. A scope that finds no room is refused;
// nothing else is harmed, and the next one is served as soon as others have ended.
//
// Scopes in mode [Heap] are not counted: their memory is the garbage collector's. What is retained or
// abandoned counts until then.
func ProcessBudget() *arena.Budget { return process }

// RefusedBy counts refused requests by the limit that they crossed.
type RefusedBy struct {
	RequestBytesMax uint64
	ProcessBytesMax uint64
	DecodedRatioMax uint64
	DepthMax        uint64
}

// Total returns the sum.
func (r RefusedBy) Total() uint64 {
	return r.RequestBytesMax + r.ProcessBytesMax + r.DecodedRatioMax + r.DepthMax
}

// limits is the order in which a pool counts.
var limits = [...]string{RequestBytesMax, ProcessBytesMax, DecodedRatioMax, DepthMax}

// Refuse counts a request that crossed the limit of that name.
func (p *Pool) Refuse(limit string) {
	for i, name := range limits {
		if name == limit {
			p.refused[i].Add(1)
			return
		}
	}
	panic("harena/scope: Refuse of an unknown limit " + limit)
}

func (p *Pool) refusedBy() RefusedBy {
	return RefusedBy{
		RequestBytesMax: p.refused[0].Load(),
		ProcessBytesMax: p.refused[1].Load(),
		DecodedRatioMax: p.refused[2].Load(),
		DepthMax:        p.refused[3].Load(),
	}
}
