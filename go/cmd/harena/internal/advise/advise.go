// Package advise turns what a server measured into settings: each with its evidence, and with what it is
// expected to save in a number that can be looked up again afterwards.
package advise

import (
	"fmt"
	"slices"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// RequestsMin is how many requests of a method there must be before anything is advised for it.
const RequestsMin = 1000

// Advice is one setting to change, or something to do.
type Advice struct {
	Method  string `json:"method"`  // "" for the process and its pools
	Section string `json:"section"` // where the file has it: "", "page_pool" or "methods"
	Key     string `json:"key"`     // the setting, or "" for something to do in the code
	From    string `json:"from"`    // as a file has it
	To      string `json:"to"`
	// Evidence is what was measured, and Saving what to expect of the change and where to see it.
	Evidence string `json:"evidence"`
	Saving   string `json:"saving"`
	// SavedBytes is the memory that Saving speaks of, where it is memory that is held now; else 0.
	SavedBytes int64 `json:"saved_bytes,omitempty"`
}

// Note is why there is no advice.
type Note struct {
	Method string `json:"method"`
	Text   string `json:"text"`
}

// Report is what the rules say of a profile.
type Report struct {
	Advices []Advice `json:"advice"`
	Notes   []Note   `json:"notes"`
}

// methodRule looks at one method that had enough requests.
type methodRule interface {
	method(p status.Profile, m status.Method) []Advice
}

// processRule looks at all together.
type processRule interface {
	process(p status.Profile) []Advice
}

var methodRules = []methodRule{modeRule{}, reuseRule{}, requestBudgetRule{}, ratioRule{}, firstBlockRule{}}
var processRules = []processRule{processBudgetRule{}, retentionRule{}}

// Advise applies every rule.
func Advise(p status.Profile) Report {
	var report Report
	for _, m := range p.Status.Methods {
		switch {
		case m.Requests == 0:
			report.Notes = append(report.Notes, Note{m.Name, "no traffic: nothing to go by"})
			continue
		case m.Requests < RequestsMin:
			report.Notes = append(report.Notes, Note{m.Name,
				fmt.Sprintf("%d requests; advice takes %d or more", m.Requests, RequestsMin)})
			continue
		}
		var own []Advice
		for _, rule := range methodRules {
			own = append(own, rule.method(p, m)...)
		}
		own = withoutContradiction(m, own)
		for i := range own {
			own[i].Method = m.Name
			if own[i].Key != "" {
				own[i].Section = "methods"
			}
		}
		if len(own) == 0 {
			report.Notes = append(report.Notes, Note{m.Name, "its settings fit what was measured"})
		}
		report.Advices = append(report.Advices, own...)
	}
	if len(p.Status.Methods) == 0 {
		report.Notes = append(report.Notes, Note{"", "the server has no methods on scopes"})
	}
	if p.Status.Requests() >= RequestsMin {
		for _, rule := range processRules {
			report.Advices = append(report.Advices, rule.process(p)...)
		}
	}
	return report
}

// withoutContradiction drops limits from advice for a method that stays in mode heap, which holds none.
func withoutContradiction(m status.Method, all []Advice) []Advice {
	leavesHeap := slices.ContainsFunc(all, func(a Advice) bool { return a.Key == "mode" && a.To != "heap" })
	if m.Mode != "heap" || leavesHeap {
		return all
	}
	return slices.DeleteFunc(all, func(a Advice) bool {
		return a.Key == "request_bytes_max" || a.Key == "decoded_ratio_max"
	})
}
