package serving

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/harena-project/harena/go/scope"
)

// connectgo leaves the scopes of calls that connect turns away after their request was decoded to the collector.
func TestScopesThatOnlyTheCollectorEndsAreNotAlive(t *testing.T) {
	var ended atomic.Uint64
	runtime.AddCleanup(new([64]byte), func(*atomic.Uint64) { ended.Add(1) }, &ended)
	counts := countsOf(func() []scope.MethodStats {
		return []scope.MethodStats{{Stats: scope.Stats{ScopesStarted: 1, ScopesEnded: ended.Load()}}}
	})
	if counts.ScopesMade != 1 || counts.ScopesLive != 0 {
		t.Errorf("%+v", counts)
	}
}
