package retains

import (
	"context"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

type node struct{ value int }

type server struct{ last *node }

var global *node

func before(a *arena.Arena) {
	a.Retain()
	global = arena.NewOf[node](a)
}

func between(a *arena.Arena) {
	n := arena.NewOf[node](a)
	if n.value == 0 {
		a.Retain()
		global = n
	}
}

func otherArena(a, b *arena.Arena) {
	b.Retain()
	global = arena.NewOf[node](a) // want `stored in package-level variable global`
}

func after(a *arena.Arena) {
	global = arena.NewOf[node](a) // want `stored in package-level variable global`
	a.Retain()
}

func inClosure(a *arena.Arena) {
	a.Retain()
	func() { global = arena.NewOf[node](a) }()
	n := arena.NewOf[node](a)
	go func() { n.value++ }()
}

func (s *server) scope(ctx context.Context) {
	sc := scope.From(ctx)
	sc.Retain()
	s.last = arena.NewOf[node](sc.Arena())
}

func (s *server) context(ctx context.Context) {
	grpcgo.Retain(ctx)
	s.last = arena.NewOf[node](scope.From(ctx).Arena())
}

func (s *server) forgotten(ctx context.Context) {
	s.last = arena.NewOf[node](scope.From(ctx).Arena()) // want `stored in receiver s`
}

func (s *server) byScopePackage(ctx context.Context) {
	scope.Retain(ctx)
	s.last = arena.NewOf[node](scope.From(ctx).Arena())
}

func (s *server) further(sc *scope.Scope) {
	s.last = arena.NewOf[node](sc.NewArena()) // want `stored in receiver s`
	sc.Retain()
	s.last = arena.NewOf[node](sc.NewArena())
}
