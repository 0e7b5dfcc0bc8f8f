package config

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where a setting comes from: a line of a file, or what overrides it.
type Place struct {
	Source       string // the file's name, "HARENA_MODE" or "-harena.mode"
	Line, Column int    // from 1; 0 where there are no lines
}

// String returns "harena.yaml:3:9" or "HARENA_MODE".
func (p Place) String() string {
	if p.Line == 0 {
		return p.Source
	}
	return fmt.Sprintf("%s:%d:%d", p.Source, p.Line, p.Column)
}

// short is String for a reader who knows the file.
func (p Place) short() string {
	if p.Line == 0 {
		return p.Source
	}
	return fmt.Sprintf("line %d", p.Line)
}

// Problem is one thing that is wrong, with what to do about it.
type Problem struct {
	Place  Place
	Reason string
}

// String returns "harena.yaml:3:9: reason".
func (p Problem) String() string { return p.Place.String() + ": " + p.Reason }

// Error is all that is wrong with settings, in the order of the file.
type Error struct {
	Problems []Problem
}

// Error returns a line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// problems collects them.
type problems []Problem

func (p *problems) add(at Place, format string, arguments ...any) {
	problem := Problem{at, fmt.Sprintf(format, arguments...)}
	if !slices.Contains(*p, problem) {
		*p = append(*p, problem)
	}
}

// unknown reports a name that is none of those that are known here.
func (p *problems) unknown(at Place, what, name string, known []string) {
	if meant := near(name, known); meant != "" {
		p.add(at, "unknown %s %s; did you mean %s?", what, quote(name), meant)
	} else {
		p.add(at, "unknown %s %s; known here are %s", what, quote(name), strings.Join(known, ", "))
	}
}

// quote returns a text of a file as reasons have it: short, and on one line.
func quote(text string) string {
	const bytesMax = 60
	cut := ""
	if len(text) > bytesMax {
		text, cut = text[:bytesMax], "..."
	}
	visible := []byte(text)
	for i, c := range visible {
		if c < ' ' || c > '~' || c == '"' {
			visible[i] = '?'
		}
	}
	return `"` + string(visible) + cut + `"`
}

// err returns an *Error, or nil when there are none.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		if a.Place.Line != b.Place.Line {
			return a.Place.Line - b.Place.Line
		}
		return a.Place.Column - b.Place.Column
	})
	return &Error{p}
}
