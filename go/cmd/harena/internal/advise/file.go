package advise

import (
	"fmt"
	"slices"
	"strings"
)

// schema is where editors find what a file of settings may hold: deploy/harena.schema.json.
const schema = "https://raw.githubusercontent.com/harena-project/harena/main/deploy/harena.schema.json"

// File returns a file of settings with the advice in it, and the evidence beside it.
func (r Report) File(source string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# yaml-language-server: $schema=%s\n# Written by `harena advise` from %s.\nversion: 1\n",
		schema, line(source))
	write := func(indent string, a Advice) {
		fmt.Fprintf(&out, "%s# was %s: %s\n%s%s: %s\n", indent, a.From, a.Evidence, indent, a.Key, a.To)
	}
	for _, a := range r.settings("") {
		write("", a)
	}
	if pool := r.settings("page_pool"); len(pool) > 0 {
		out.WriteString("page_pool:\n")
		for _, a := range pool {
			write("  ", a)
		}
	}
	last := ""
	for i, a := range r.settings("methods") {
		if i == 0 {
			out.WriteString("methods:\n")
		}
		if a.Method != last {
			fmt.Fprintf(&out, "  %q:\n", a.Method)
			last = a.Method
		}
		write("    ", a)
	}
	return out.String()
}

// HasSettings says whether a file would have anything of the advice in it.
func (r Report) HasSettings() bool {
	return slices.ContainsFunc(r.Advices, func(a Advice) bool { return a.Key != "" })
}

// settings returns the advice of a section that a file can have.
func (r Report) settings(section string) []Advice {
	var all []Advice
	for _, a := range r.Advices {
		if a.Key != "" && a.Section == section {
			all = append(all, a)
		}
	}
	return all
}

// line keeps a text that is not ours on one line of a comment.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
