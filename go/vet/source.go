package vet

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

const (
	modulePath = "github.com/harena-project/harena/go"
	arenaPath  = modulePath + "/arena"
	scopePath  = modulePath + "/scope"
)

// arenaArgument says which argument of an allocating function is the arena; the receiver is the
// first argument.
var arenaArgument = map[string]int{
	"NewOf":                  0,
	"NewOfUninitialized":     0,
	"MakeSlice":              0,
	"MakeSliceUninitialized": 0,
	"Append":                 0,
	"MakeMap":                0,
	"Arena.Bytes":            0,
	"Kind.New":               1,
	"Kind.MakeSlice":         1,
	"Type.New":               1,
	"Type.NewArray":          1,
	"MapType.New":            1,
}

// source is a call that takes memory from an arena.
type source struct {
	call  *ssa.Call
	name  string // as in arena.NewOf
	arena place
}

func sourceOf(call *ssa.Call) (source, bool) {
	name := calleeIn(call.Common(), arenaPath)
	argument, ok := arenaArgument[name]
	if !ok || argument >= len(call.Call.Args) {
		return source{}, false
	}
	return source{call: call, name: "arena." + name, arena: arenaOf(call.Call.Args[argument])}, true
}

// calleeIn returns the name of the function that is called, as in "NewOf" or "Arena.Bytes", if it is
// in the package with that path or, where the path ends with a slash, in one below it.
func calleeIn(call *ssa.CallCommon, path string) string {
	callee := call.StaticCallee()
	if callee == nil {
		return ""
	}
	if origin := callee.Origin(); origin != nil {
		callee = origin
	}
	object, ok := callee.Object().(*types.Func)
	if !ok || object.Pkg() == nil {
		return ""
	}
	if in := object.Pkg().Path(); in != path && !(strings.HasSuffix(path, "/") && strings.HasPrefix(in, path)) {
		return ""
	}
	receiver := object.Signature().Recv()
	if receiver == nil {
		return object.Name()
	}
	typ := receiver.Type()
	if pointer, ok := typ.(*types.Pointer); ok {
		typ = pointer.Elem()
	}
	if named, ok := typ.(*types.Named); ok {
		return named.Obj().Name() + "." + object.Name()
	}
	return ""
}

// arenaOf returns the place that an arena is known by: the scope or the context that it comes from,
// or else where its pointer comes from.
func arenaOf(value ssa.Value) place {
	for {
		where := placeOf(value)
		call, ok := where.root.(*ssa.Call)
		if !ok || len(call.Call.Args) == 0 {
			return where
		}
		switch calleeIn(call.Common(), scopePath) {
		case "Scope.Arena", "Scope.NewArena", "From":
			value = call.Call.Args[0]
		default:
			return where
		}
	}
}

// retain is a call that lets everything handed out so far live on.
type retain struct {
	at    ssa.Instruction
	arena place
}

// retainsOf returns the calls of Retain in the function and those around it: of an arena, of a scope,
// or of an adapter with a context.
func retainsOf(function *ssa.Function) (retains []retain) {
	for ; function != nil; function = function.Parent() {
		for _, block := range function.Blocks {
			for _, instruction := range block.Instrs {
				call, ok := instruction.(ssa.CallInstruction)
				if !ok || len(call.Common().Args) == 0 {
					continue
				}
				common := call.Common()
				if isRetain(common) {
					retains = append(retains, retain{at: instruction, arena: arenaOf(common.Args[0])})
				}
			}
		}
	}
	return retains
}

func isRetain(call *ssa.CallCommon) bool {
	inScope := calleeIn(call, scopePath)
	return calleeIn(call, arenaPath) == "Arena.Retain" || inScope == "Scope.Retain" || inScope == "Retain" ||
		calleeIn(call, modulePath+"/adapters/") == "Retain"
}

// retained says whether the source's arena was retained on every path to the instruction, or anywhere
// before it in the text.
func retained(source source, at ssa.Instruction, retains []retain) bool {
	for _, r := range retains {
		if r.arena != source.arena {
			continue
		}
		retainBlock, block := r.at.Block(), at.Block()
		if r.at.Pos() < at.Pos() ||
			r.at.Parent() == at.Parent() && retainBlock != block && retainBlock.Dominates(block) {
			return true
		}
	}
	return false
}
