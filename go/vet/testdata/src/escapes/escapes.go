package escapes

import (
	"context"
	"unsafe"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

type Node struct {
	Next  *Node
	Value int
	Data  []byte
}

type holder struct {
	node  *Node
	list  []*Node
	byKey map[string]*Node
	any   any
	arena arena.Arena
	other *arena.Arena
}

var (
	global       *Node
	globalList   []*Node
	globalMap    = map[string]*Node{}
	globalHolder holder
	globalText   string
	globalAny    any
	globalFunc   func()
	globalNumber int
	nodes        = arena.KindOf[Node]()
	nodeType     *arena.Type
)

func globals(a *arena.Arena, b []byte) {
	n := arena.NewOf[Node](a)
	global = n                                            // want `result of arena.NewOf is stored in package-level variable global, which outlives its arena`
	globalHolder.node = n                                 // want `arena.NewOf is stored in package-level variable globalHolder`
	globalList[3] = n                                     // want `stored in package-level variable globalList`
	globalMap["n"] = n                                    // want `stored in package-level variable globalMap`
	globalAny = n                                         // want `stored in package-level variable globalAny`
	globalAny = &n.Value                                  // want `stored in package-level variable globalAny`
	global = nodes.New(a)                                 // want `arena.Kind.New is stored in package-level variable global`
	globalList = nodes2.MakeSlice(a, 1)                   // want `arena.Kind.MakeSlice is stored`
	globalAny = arena.MakeSlice[int](a, 1, 1)[:0]         // want `arena.MakeSlice is stored`
	globalMap = arena.MakeMap[string, *Node](a)           // want `arena.MakeMap is stored`
	globalAny = a.Bytes(b)                                // want `arena.Arena.Bytes is stored`
	global = (*Node)(nodeType.New(a))                     // want `arena.Type.New is stored`
	globalList = arena.Append(a, globalList, &Node{})     // want `arena.Append is stored`
	globalHolder = holder{node: arena.NewOf[Node](a)}     // want `arena.NewOf is stored in package-level variable globalHolder`
	globalAny = &holder{node: arena.NewOf[Node](a)}       // want `arena.NewOf is stored`
	globalText = unsafe.String(&a.Bytes(b)[0], len(b))    // want `arena.Arena.Bytes is stored`
	globalList = append(globalList, arena.NewOf[Node](a)) // want `arena.NewOf is stored`
	copy(globalList, []*Node{arena.NewOf[Node](a)})       // want `arena.NewOf is stored`
}

var nodes2 = arena.KindOf[*Node]()

func fine(a *arena.Arena, b []byte) *Node {
	n := arena.NewOf[Node](a)
	n.Next = arena.NewOf[Node](a)
	n.Data = a.Bytes(b)
	globalText = a.String("text")
	globalText = string(a.Bytes(b))
	global = arena.Clone(n)
	globalNumber = n.Value
	globalNumber = len(n.Data)
	copy(globalText2, a.Bytes(b))
	globalText2 = append(globalText2, a.Bytes(b)...)
	local := holder{node: n, byKey: map[string]*Node{"n": n}}
	local.list = append(local.list, n)
	use(&local)
	return n
}

var globalText2 []byte

func use(h *holder) {}

func throughLocals(a *arena.Arena, choose bool) {
	n := arena.NewOf[Node](a)
	other := new(Node)
	if choose {
		other = n
	}
	global = other // want `stored in package-level variable global`
	var local holder
	local.node = n
	local.any = 1
	globalAny = local.any
	global = local.node // want `stored in package-level variable global`
	m := map[string]*Node{}
	m["n"] = n
	globalMap = m // want `stored in package-level variable globalMap`
	list := arena.MakeSlice[*Node](a, 1, 1)
	list[0] = arena.NewOf[Node](a)
	global = list[0]                  // want `arena.NewOf is stored in package-level variable global`
	globalFunc = func() { n.Value++ } // want `stored in package-level variable globalFunc`
}

func channels(a *arena.Arena, c chan *Node, holders chan holder) {
	n := arena.NewOf[Node](a)
	c <- n                     // want `result of arena.NewOf is sent on a channel`
	holders <- holder{node: n} // want `is sent on a channel`
	select {
	case c <- n: // want `is sent on a channel`
	default:
	}
	c <- new(Node)
	c <- arena.Clone(n)
}

func work(n *Node, v int) {}

func (n *Node) work() {}

func goroutines(a *arena.Arena) {
	n := arena.NewOf[Node](a)
	go work(n, 1) // want `is used by a goroutine`
	go n.work()   // want `is used by a goroutine`
	go func() {   // want `is used by a goroutine`
		n.Value++
	}()
	go func(n *Node) {}(n) // want `is used by a goroutine`
	go work(nil, n.Value)
	go func() {
		b := arena.New()
		defer b.Free()
		arena.NewOf[Node](b).Value++
	}()
	func() { n.Value++ }()
	func() { global = n }() // want `stored in package-level variable global`
}

func localArena(dst *holder, list []*Node, byKey map[string]*Node, out **Node, value holder) {
	a := arena.New()
	defer a.Free()
	n := arena.NewOf[Node](a)
	dst.node = n                   // want `is stored in parameter dst`
	dst.byKey["x"] = n             // want `is stored in parameter dst`
	dst.list = append(dst.list, n) // want `is stored in parameter dst`
	list[0] = n                    // want `is stored in parameter list`
	byKey["x"] = n                 // want `is stored in parameter byKey`
	*out = n                       // want `is stored in parameter out`
	value.node = n
	dst.any = n.Value
	var own arena.Arena
	dst.any = arena.NewOf[Node](&own) // want `is stored in parameter dst`
	pool := &arena.Pool{}
	dst.any = arena.NewOf[Node](pool.Get()) // want `is stored in parameter dst`
}

func callersArena(a *arena.Arena, dst *holder) {
	dst.node = arena.NewOf[Node](a)
}

func (h *holder) receiver(a *arena.Arena) {
	h.node = arena.NewOf[Node](a) // want `is stored in receiver h`
	h.any = 1
}

func (h *holder) ownArena() {
	h.node = arena.NewOf[Node](&h.arena)
	h.list = arena.Append(h.other, h.list, h.node)
}

func (h *holder) closure(a *arena.Arena) {
	f := func() {
		h.node = arena.NewOf[Node](a) // want `is stored in receiver h`
	}
	f()
}

func (h *holder) handler(ctx context.Context, reply *holder) {
	a := scope.From(ctx).Arena()
	reply.node = arena.NewOf[Node](a)
	h.node = arena.NewOf[Node](a) // want `is stored in receiver h`
}

func localStruct() *holder {
	h := &holder{}
	h.node = arena.NewOf[Node](&h.arena)
	go use(h)
	return h
}
