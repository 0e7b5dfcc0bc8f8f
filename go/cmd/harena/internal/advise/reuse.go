package advise

import (
	"fmt"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// reuseRule takes mode reuse from methods whose kept messages do not pay for the memory they hold: where
// many requests build theirs anew.
type reuseRule struct{}

// rebuiltShareMax is the share of requests that may find no kept message.
const rebuiltShareMax = 0.2

func (reuseRule) method(_ status.Profile, m status.Method) []Advice {
	if m.Mode != "reuse" || m.Served != "reuse" || m.Kept == nil {
		return nil
	}
	// A request and a response each.
	share := float64(m.Kept.InstancesBuilt) / float64(2*m.Requests)
	if share <= rebuiltShareMax {
		return nil
	}
	return []Advice{{
		Key: "mode", From: "reuse", To: "codec",
		Evidence: fmt.Sprintf("%d messages were built for %d requests, %.0f %% of those used: keeping them seldom helps, and %s is held idle",
			m.Kept.InstancesBuilt, m.Requests, 100*min(share, 1), About(m.Kept.BytesIdle)),
		Saving:     fmt.Sprintf("%s that idle messages hold (kept.bytes_idle goes to 0, RSS by about as much)", About(m.Kept.BytesIdle)),
		SavedBytes: m.Kept.BytesIdle,
	}}
}
