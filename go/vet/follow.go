package vet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// escape is where a value leaves the function for longer than its arena lives.
type escape struct {
	at  ssa.Instruction
	pos token.Pos
	how string
}

// flow is the way of one arena value through a function.
type flow struct {
	source  source
	carried map[ssa.Value]bool // values that are, hold or point into the arena value
	held    []place            // local memory that it was stored in
	queue   []ssa.Value
	escapes []escape
	seen    map[ssa.Instruction]bool
}

// follow returns where the value of source leaves.
func follow(source source) []escape {
	f := &flow{source: source, carried: map[ssa.Value]bool{}, seen: map[ssa.Instruction]bool{}}
	f.carry(source.call)
	for len(f.queue) > 0 {
		value := f.queue[0]
		f.queue = f.queue[1:]
		for _, user := range *value.Referrers() {
			f.use(value, user)
		}
	}
	return f.escapes
}

func (f *flow) carry(value ssa.Value) {
	if !f.carried[value] && value.Referrers() != nil {
		f.carried[value] = true
		f.queue = append(f.queue, value)
	}
}

func (f *flow) escape(at ssa.Instruction, how string) { f.escapeAt(at, at.Pos(), how) }

func (f *flow) escapeAt(at ssa.Instruction, pos token.Pos, how string) {
	if !f.seen[at] {
		f.seen[at] = true
		f.escapes = append(f.escapes, escape{at, pos, how})
	}
}

// use looks at one instruction that has the value as an operand.
func (f *flow) use(value ssa.Value, user ssa.Instruction) {
	switch user := user.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Slice, *ssa.Phi, *ssa.ChangeType, *ssa.MakeInterface,
		*ssa.ChangeInterface, *ssa.TypeAssert, *ssa.SliceToArrayPointer:
		f.carry(user.(ssa.Value))
	case *ssa.MakeClosure:
		f.carry(user)
		for i, bound := range user.Bindings {
			if bound == value {
				f.carry(user.Fn.(*ssa.Function).FreeVars[i])
			}
		}
	case *ssa.Extract:
		if mayPoint(user.Type()) {
			f.carry(user)
		}
	case *ssa.Field, *ssa.Index:
		// A struct or array value that holds the arena value: part of it may be the one.
		if part := user.(ssa.Value); mayPoint(part.Type()) {
			f.carry(part)
		}
	case *ssa.Convert:
		// A conversion to string copies.
		if basic, ok := user.Type().Underlying().(*types.Basic); !ok || basic.Kind() == types.UnsafePointer {
			f.carry(user)
		}
	case *ssa.UnOp:
		if user.Op == token.MUL {
			f.load(user)
		}
	case *ssa.Store:
		if user.Val == value {
			f.store(user, user.Addr)
		}
	case *ssa.MapUpdate:
		if user.Value == value || user.Key == value {
			f.store(user, user.Map)
		}
	case *ssa.Send:
		if user.X == value {
			f.escape(user, "is sent on a channel")
		}
	case *ssa.Select:
		for _, state := range user.States {
			if state.Send == value {
				f.escapeAt(user, state.Pos, "is sent on a channel")
			}
		}
	case *ssa.Go:
		f.escape(user, "is used by a goroutine")
	case *ssa.Call:
		f.call(value, user)
	}
}

// call follows a value into what the language itself provides; other calls are not followed.
func (f *flow) call(value ssa.Value, call *ssa.Call) {
	builtin, ok := call.Call.Value.(*ssa.Builtin)
	if !ok {
		// The arena's own Append moves pointers as append does.
		if calleeIn(call.Common(), arenaPath) == "Append" {
			f.appended(value, call, 1)
		}
		return
	}
	switch builtin.Name() {
	case "append":
		f.appended(value, call, 0)
	case "copy":
		if call.Call.Args[1] == value && mayPoint(elemOf(value)) {
			f.store(call, call.Call.Args[0])
		}
	case "ssa:wrapnilchk", "Add", "Slice", "SliceData", "String", "StringData":
		f.carry(call)
	}
}

// appended follows a value that is the slice, or among the values, of an append.
func (f *flow) appended(value ssa.Value, call *ssa.Call, slice int) {
	arguments := call.Call.Args
	if slice < len(arguments) && arguments[slice] == value || mayPoint(elemOf(value)) {
		f.carry(call)
	}
}

// load follows a value out of memory that it was stored in.
func (f *flow) load(load *ssa.UnOp) {
	if !mayPoint(load.Type()) {
		return
	}
	from := placeOf(load.X)
	for _, held := range f.held {
		if held.overlaps(from) {
			f.carry(load)
			return
		}
	}
}

// store looks at a store of the value to what an address, map or slice refers to.
func (f *flow) store(at ssa.Instruction, target ssa.Value) {
	switch root := placeOf(target).root.(type) {
	case *ssa.Global:
		f.escape(at, "is stored in package-level variable "+root.Name())
	case *ssa.Parameter:
		if how := f.outlives(root); how != "" {
			f.escape(at, how)
		}
	case *ssa.Phi:
		for _, edge := range root.Edges {
			if edge != root && !f.carried[edge] {
				if _, again := placeOf(edge).root.(*ssa.Phi); !again {
					f.store(at, edge)
				}
			}
		}
	default:
		if root != f.source.arena.root { // else it lives as long as the arena, being part of one struct
			f.hold(root, placeOf(target))
		}
	}
}

// hold remembers that local memory holds the value: who has the memory has the value.
func (f *flow) hold(root ssa.Value, where place) {
	for _, held := range f.held {
		if held == where {
			return
		}
	}
	f.held = append(f.held, where)
	if _, arena := root.(*ssa.Call); !arena {
		f.carry(root)
	}
	// Loads that were looked at before may be of this place.
	for _, block := range f.source.call.Parent().Blocks {
		for _, instruction := range block.Instrs {
			if load, ok := instruction.(*ssa.UnOp); ok && load.Op == token.MUL {
				f.load(load)
			}
		}
	}
}

// outlives says how the arena value gets to outlive its arena through a parameter, or "" if it does
// not, as far as one can tell.
func (f *flow) outlives(parameter *ssa.Parameter) string {
	arena := f.source.arena.root
	if arena == parameter {
		return ""
	}
	function := parameter.Parent()
	if function.Signature.Recv() != nil && parameter == function.Params[0] {
		return "is stored in receiver " + parameter.Name()
	}
	if _, callers := arena.(*ssa.Parameter); callers && !reportParams {
		return ""
	}
	return "is stored in parameter " + parameter.Name()
}

func elemOf(value ssa.Value) types.Type {
	if slice, ok := value.Type().Underlying().(*types.Slice); ok {
		return slice.Elem()
	}
	return value.Type()
}

// mayPoint reports whether values of the type can refer to memory.
func mayPoint(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() == types.UnsafePointer || t.Info()&types.IsString != 0
	case *types.Array:
		return mayPoint(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			if mayPoint(t.Field(i).Type()) {
				return true
			}
		}
		return false
	case *types.Tuple:
		for i := range t.Len() {
			if mayPoint(t.At(i).Type()) {
				return true
			}
		}
		return false
	}
	return true
}
