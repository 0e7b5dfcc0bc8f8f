package advise

import (
	"fmt"
	"strings"
)

// Text returns the report for people, method by method.
func (r Report) Text() string {
	var out strings.Builder
	last := "-"
	heading := func(method string) {
		if method == last {
			return
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		last = method
		if method == "" {
			method = "the process"
		}
		out.WriteString(method + "\n")
	}
	for _, a := range r.Advices {
		heading(a.Method)
		what := a.Key
		if what == "" {
			what = "to do"
		} else if a.Section == "page_pool" {
			what = "page_pool." + what
		}
		fmt.Fprintf(&out, "  %s: %s -> %s\n    because %s\n    saves   %s\n", what, a.From, a.To, a.Evidence, a.Saving)
	}
	for _, n := range r.Notes {
		heading(n.Method)
		fmt.Fprintf(&out, "  %s\n", n.Text)
	}
	if len(r.Advices) == 0 {
		out.WriteString("\nno advice\n")
	}
	return out.String()
}
