package vet

import (
	"fmt"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// place names memory within a function: a value that the function starts from, and the fields passed
// on the way from it. Two equal places are the same memory, as far as one can tell without running.
type place struct {
	root ssa.Value
	path string // as in "3.*1.[]*", with * for a load
}

// overlaps says whether one place holds the other, or is it.
func (p place) overlaps(other place) bool {
	return p.root == other.root && (strings.HasPrefix(p.path, other.path) || strings.HasPrefix(other.path, p.path))
}

// placeOf returns where a pointer, slice, map or other value comes from.
func placeOf(value ssa.Value) place {
	return trace(value, map[ssa.Value]bool{})
}

func trace(value ssa.Value, seen map[ssa.Value]bool) place {
	if seen[value] {
		return place{root: value}
	}
	seen[value] = true
	onto := func(x ssa.Value, step string) place {
		from := trace(x, seen)
		return place{root: from.root, path: from.path + step}
	}
	switch v := value.(type) {
	case *ssa.FieldAddr:
		return onto(v.X, fmt.Sprintf("%d.", v.Field))
	case *ssa.Field:
		return onto(v.X, fmt.Sprintf("%d.", v.Field))
	case *ssa.IndexAddr:
		return onto(v.X, "[]")
	case *ssa.Index:
		return onto(v.X, "[]")
	case *ssa.Lookup:
		return onto(v.X, "[]")
	case *ssa.UnOp:
		if v.Op.String() != "*" {
			return place{root: v}
		}
		// A variable that is assigned once stands for what is assigned.
		if cell, ok := v.X.(*ssa.Alloc); ok {
			if assigned := onlyStore(cell); assigned != nil {
				return trace(assigned, seen)
			}
		}
		if captured, ok := v.X.(*ssa.FreeVar); ok {
			if cell, ok := bindingOf(captured).(*ssa.Alloc); ok {
				if assigned := onlyStore(cell); assigned != nil {
					return trace(assigned, seen)
				}
			}
		}
		return onto(v.X, "*")
	case *ssa.FreeVar:
		if bound := bindingOf(v); bound != nil {
			return trace(bound, seen)
		}
	case *ssa.Slice:
		return trace(v.X, seen)
	case *ssa.ChangeType:
		return trace(v.X, seen)
	case *ssa.Convert:
		return trace(v.X, seen)
	case *ssa.MakeInterface:
		return trace(v.X, seen)
	case *ssa.ChangeInterface:
		return trace(v.X, seen)
	case *ssa.TypeAssert:
		return trace(v.X, seen)
	case *ssa.Extract:
		return trace(v.Tuple, seen)
	case *ssa.Call:
		if builtin, ok := v.Call.Value.(*ssa.Builtin); ok && builtin.Name() == "append" {
			return trace(v.Call.Args[0], seen)
		}
	}
	return place{root: value}
}

// onlyStore returns what a variable is assigned, if that happens once and as a whole.
func onlyStore(cell *ssa.Alloc) (stored ssa.Value) {
	for _, user := range *cell.Referrers() {
		if store, ok := user.(*ssa.Store); ok && store.Addr == cell {
			if stored != nil {
				return nil
			}
			stored = store.Val
		}
	}
	return stored
}

// bindingOf returns what a closure captured, in the function around it.
func bindingOf(captured *ssa.FreeVar) ssa.Value {
	function := captured.Parent()
	if function.Parent() == nil {
		return nil
	}
	for i, variable := range function.FreeVars {
		if variable != captured {
			continue
		}
		for _, block := range function.Parent().Blocks {
			for _, instruction := range block.Instrs {
				if closure, ok := instruction.(*ssa.MakeClosure); ok && closure.Fn == function {
					return closure.Bindings[i]
				}
			}
		}
	}
	return nil
}
