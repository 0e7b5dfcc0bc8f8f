package arena

import "runtime"

// Arena hands out memory that is taken back all at once.
//
// The zero value is ready to use and draws on [DefaultPool]. An Arena must not be copied after its
// first use; a copy panics when it next needs memory, and `go vet` reports it.
//
// Thread rule: one goroutine at a time. Goroutines that work for the same request need an arena
// each, or a lock of their own.
//
// Lifetime rule: what the arena handed out belongs to the caller until [Arena.Reset] or
// [Arena.Free]. Afterwards the memory is zeroed and serves the next user: a pointer that was kept
// reads another request's values of the same type. The package comment says what that can come to.
// [Arena.Retain] lifts that rule for one round. Strings made by [Arena.String] are exempt from it:
// they are valid for ever.
type Arena struct {
	_ noCopy

	// Copies of the state's, so that the inlined allocation paths need no further load. Both are nil
	// before the first use and after Free, which sends those paths to the slow one.
	slabs []*slab
	cache []cacheEntry

	state *state
	pool  *Pool
	self  *Arena // tells a copy from the original

	budget    *Budget // of the state, from when there is one
	untilLost bool
}

// noCopy makes `go vet` report copies of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// freed stands in for the state of an arena that was freed, so that every later use finds it.
var freed = &state{}

// New returns an arena on [DefaultPool]. Free gives its memory back to the pool; an arena that is
// never freed is left to the garbage collector like any other value.
func New() *Arena { return &Arena{} }

// NewFinalizer returns an arena that nobody has to free: when the arena is no longer reachable its
// memory is left to the garbage collector, piece by piece as the objects in it become unreachable
// too. Unlike the finalizers of other arenas this cannot take memory away from under an object that
// is still in use; for the same reason that memory is not recycled, only counted in
// [PoolStats.Abandoned]. Call Free to have it recycled.
func NewFinalizer() *Arena {
	a := New()
	state := a.ready()
	// The argument reaches neither a, which would live for ever, nor the memory, which would live one
	// collection longer than it has to.
	state.cleanup = runtime.AddCleanup(a, (*Pool).Lost, state.pool)
	return a
}

// Reset ends everything that the arena handed out and keeps the memory for what it hands out next.
// It takes time in proportion to the bytes used since the last Reset (they are zeroed now, so that
// nothing stale stays reachable and new objects need no clearing).
func (a *Arena) Reset() {
	if a.state == nil {
		return
	}
	a.ready().reset()
}

// Free ends everything that the arena handed out and gives the memory back to its pool. The arena
// cannot be used again: a later call on it panics, and so does a second Free. [Pool.Init] makes the
// same variable a new arena.
func (a *Arena) Free() {
	if a.state == freed {
		panic("harena/arena: Free of an arena that was freed before; free it once, where its owner ends")
	}
	if a.state == nil {
		a.state = freed
		return
	}
	state := a.ready()
	a.slabs, a.cache, a.state = nil, nil, freed
	state.cleanup.Stop()
	state.cleanup = runtime.Cleanup{}
	state.pool.put(state)
}

// Retain promises that everything handed out since the last Reset stays valid for ever: the next
// Reset or Free leaves that memory to the garbage collector instead of reusing it. What is handed
// out after that Reset is under the ordinary rule again. Use it when an object has to outlive its
// request; it costs about what plain `new` costs for this round.
func (a *Arena) Retain() { a.ready().retain = true }

// SetBytesMax bounds the memory that the arena takes between two Resets: whole chunks as they are
// taken, and the bytes of strings. Zero or less means no bound. An allocation beyond it panics with
// a *[LimitError]; the untyped allocations of [Type] return nil instead. The bound lasts until the
// next SetBytesMax or Free.
//
// Maps are counted when they are handed out, without their entries, and never refused: the next
// other allocation is.
func (a *Arena) SetBytesMax(bytesMax int64) { a.ready().bytesMax = max(bytesMax, 0) }

// ready returns the state, made on first use. It panics after Free and on a copy.
func (a *Arena) ready() *state {
	if a.state == nil {
		pool := a.pool
		if pool == nil {
			pool = DefaultPool
		}
		state := pool.get()
		a.state, a.slabs, a.cache, a.self = state, state.slabs, state.cache[:], a
		if a.budget != nil {
			a.joinBudget()
		}
	}
	if a.state == freed {
		panic("harena/arena: use of an arena after Free; make a new one, or call Reset instead of Free to use it again")
	}
	if a.self != a {
		panic("harena/arena: use of a copy of an arena; pass *Arena instead")
	}
	return a.state
}
