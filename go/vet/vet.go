// Package vet finds arena values that leave a function for a place that outlives their arena.
//
//	go vet -vettool=$(which harena-vet) ./...
//
// The values are the results of package arena's NewOf, MakeSlice, Append, MakeMap, Kind.New, Type.New,
// Arena.Bytes and their variants. They may not be used after the arena's Reset or Free, so the
// analyzer reports one that
//
//   - is stored in a package-level variable, or in what such a variable refers to,
//   - is sent on a channel,
//   - is passed to a goroutine, or captured by one,
//   - is stored in a field, element, map entry or variable that the function reaches through its
//     receiver or a parameter, where that outlives the arena.
//
// A receiver or parameter outlives an arena that the function made itself. A receiver also outlives an
// arena that is a parameter, or comes from one, as from a context; only an arena that belongs to the
// receiver too, like s.arena, is taken to live as long. Where both the arena and the place are the
// caller's, nothing is reported, as a function that fills in its caller's message does just that; the
// flag -harena.params reports these too.
//
// Nothing is reported once Retain was called on the arena, its scope or its context, earlier in the
// function or on every path to the place. Arena.String and Clone make values that may be kept, and so
// does a conversion of bytes to string.
//
// # Limits
//
// The analyzer looks at one function at a time, together with the closures in it that capture an arena
// value. It does not see
//
//   - values that go through a call: helper(n) may keep n, and what a helper returns may be an arena
//     value; so do errgroup.Group.Go, time.AfterFunc and others that take a closure,
//   - values that are returned, which is the caller's business,
//   - values that are loaded from arena memory that another function filled in,
//   - stores to a variable of the function around a closure, made in the closure,
//   - values in messages that were decoded into an arena: nothing is flagged in those,
//   - whether the arena is reset before a goroutine ends or a channel is read: a goroutine that the
//     function waits for is reported too,
//   - the use of a value after Reset in the same function.
//
// It is a help, and no proof. The debug build and the race detector find at run time what it misses.
package vet

import (
	"fmt"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"
)

// Analyzer reports arena values that outlive their arena.
var Analyzer = &analysis.Analyzer{
	Name:     "harena",
	Doc:      "report arena values that leave a function for a place that outlives their arena",
	URL:      "https://pkg.go.dev/github.com/harena-project/harena/go/vet",
	Requires: []*analysis.Analyzer{buildssa.Analyzer},
	Run:      run,
}

var reportParams bool

func init() {
	Analyzer.Flags.BoolVar(&reportParams, "params", false,
		"also report values stored through a parameter when the arena is the caller's too")
}

func run(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Path() == arenaPath {
		return nil, nil // it keeps what it hands out, of course
	}
	for _, function := range pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).SrcFuncs {
		retains := retainsOf(function)
		for _, block := range function.Blocks {
			for _, instruction := range block.Instrs {
				call, ok := instruction.(*ssa.Call)
				if !ok {
					continue
				}
				if source, ok := sourceOf(call); ok {
					report(pass, source, retains)
				}
			}
		}
	}
	return nil, nil
}

// report follows one arena value and reports where it leaves.
func report(pass *analysis.Pass, source source, retains []retain) {
	for _, escape := range follow(source) {
		if retained(source, escape.at, retains) {
			continue
		}
		pass.Report(analysis.Diagnostic{
			Pos: escape.pos,
			Message: fmt.Sprintf("result of %s %s, which outlives its arena; call Retain before, or keep a copy outside the arena",
				source.name, escape.how),
		})
	}
}
