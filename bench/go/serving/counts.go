package serving

import (
	"runtime"
	"time"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/go/scope"
)

// Counts are what Harena counted in a server's life: sums over its methods.
type Counts struct {
	ScopesMade  uint64 `json:"scopes_made"`
	ScopesLive  uint64 `json:"scopes_live"`
	Refused     uint64 `json:"refused"`
	Sampled     uint64 `json:"sampled"` // scopes whose memory was poisoned at their end
	StaleWrites uint64 `json:"stale_writes"`
	BytesInUse  int64  `json:"bytes_in_use"` // by the process's budget
}

// settle is how long the last calls' scopes may take to end after their server has.
const settle = 5 * time.Second

// countsOf waits for the last scopes to end. A server without methods of Harena's has zeros.
func countsOf(methods demo.Methods) Counts {
	for deadline := time.Now().Add(settle); ; time.Sleep(10 * time.Millisecond) {
		counts := Counts{BytesInUse: scope.ProcessBudget().BytesUsed()}
		if methods != nil {
			for _, m := range methods() {
				counts.ScopesMade += m.ScopesStarted
				counts.ScopesLive += m.ScopesAlive()
				counts.Refused += m.ScopesRefused
				counts.Sampled += m.Arenas.Sampled
				counts.StaleWrites += m.Arenas.StaleWrites
			}
		}
		if counts.ScopesLive == 0 && counts.BytesInUse == 0 || time.Now().After(deadline) {
			return counts
		}
		runtime.GC() // a call that connect turns away after it was decoded ends with the request
	}
}
