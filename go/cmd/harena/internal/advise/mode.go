package advise

import (
	"fmt"
	"slices"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// modeRule has methods served by mode codec, where they could be and are not.
type modeRule struct{}

func (modeRule) method(p status.Profile, m status.Method) []Advice {
	if m.Mode == "codec" && m.Served != "codec" {
		return []Advice{{
			From: "served as " + m.Served, To: "codec",
			Evidence: fmt.Sprintf("mode codec is set, and the method is served as %s: its messages have no generated codec", m.Served),
			Saving: "link the messages' generated code (harena_generate, docs/codec.md); then `served` says codec, and " +
				"heap allocations per request fall",
		}}
	}
	if m.Mode == "codec" || m.Mode == "reuse" || !slices.Contains(m.Modes, "codec") {
		return nil
	}
	saving := "fewer heap allocations per request: README.md's table has about half of the messages' CPU of mode " + m.Mode
	switch {
	case p.Status.Language == "go":
		saving = "fewer collections and heap allocations per request: README.md's table has 0.30 to 0.41 of the CPU of mode heap"
	case m.Mode == "heap":
		saving = "fewer heap allocations per request: README.md's table has 0.38 to 0.47 of the CPU of mode heap"
	}
	return []Advice{{
		Key: "mode", From: m.Mode, To: "codec",
		Evidence: fmt.Sprintf("%d requests were served in mode %s, and the method could use codec", m.Requests, m.Mode),
		Saving:   saving,
	}}
}
