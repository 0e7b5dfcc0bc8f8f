package scope

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/harena-project/harena/go/arena"
)

// Scope is one request's memory. [Pool.Get] makes one, [Scope.End] ends it, once.
//
// Thread rule: Retain, Retained, NewArena, Adopt, AbandonArena and Abandon may be called from any goroutine;
// everything else by one at a time.
//
// Lifetime rule: what its arena handed out is valid until End, or for ever after Retain.
type Scope struct {
	arena   arena.Arena
	pool    *Pool
	options Options
	state   atomic.Uint32
	timed   bool

	// Guards adopted, and orders Adopt against End.
	mu      sync.Mutex
	adopted []*arena.Arena
}

// Bits of Scope.state.
const (
	retained uint32 = 1 << iota
	ended
)

// Arena returns where the scope's objects are made.
func (s *Scope) Arena() *arena.Arena { return &s.arena }

// Mode returns the mode that the scope began with.
func (s *Scope) Mode() Mode { return s.options.Mode }

// Options returns the settings that the scope began with. Later changes of the pool are for later
// scopes.
func (s *Scope) Options() Options { return s.options }

// BytesUsed returns the bytes of the arena that are in use.
func (s *Scope) BytesUsed() int64 { return s.arena.BytesUsed() }

// Retain keeps everything in the scope valid beyond its end: the memory is left to the garbage
// collector instead of being reused. Without effect after End, which is too late.
func (s *Scope) Retain() { s.state.Or(retained) }

// Retained reports whether Retain was called, or the scope's mode is [Heap].
func (s *Scope) Retained() bool { return s.state.Load()&retained != 0 }

// Ended reports whether the scope was ended or abandoned.
func (s *Scope) Ended() bool { return s.state.Load()&ended != 0 }

// NewArena returns a further arena for a goroutine that works for the same request. All arenas of a
// scope share its RequestBytesMax. Hand it to Adopt when it is filled.
//
// Over a limit the goroutine goes on with memory of the Go heap, which is counted: a panic there would
// end the process. Err then says which limit it was, and the adapters refuse the call when its handler
// returns. After the scope's end the arena is under no limit.
func (s *Scope) NewArena() *arena.Arena {
	a := s.pool.arenas.Get()
	if s.options.Mode == Heap {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Ended() {
		a.SetBytesMax(0) // takes the arena's memory now, as below
		return a
	}
	a.SetBytesMax(s.options.RequestBytesMax)
	s.arena.Lend(a)
	return a
}

// Err returns the [*arena.LimitError] of the first allocation on an arena of NewArena that was over a
// limit, or nil.
func (s *Scope) Err() error {
	if over := s.arena.Spilled(); over != nil {
		return over
	}
	return nil
}

// Adopt makes an arena of NewArena end with the scope, to which it belongs from then on. If the scope has
// ended, the arena's memory is left to the garbage collector.
func (s *Scope) Adopt(a *arena.Arena) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Ended() {
		s.AbandonArena(a)
	} else {
		s.adopted = append(s.adopted, a)
	}
}

// AbandonArena leaves an arena of NewArena to the garbage collector, in place of Adopt: for those who
// cannot know whether somebody still works on it.
func (s *Scope) AbandonArena(a *arena.Arena) {
	if s.options.Mode != Heap {
		a.LeaveBudget()
		s.pool.arenas.Lost()
	}
}

// End gives the scope's memory back, or leaves it to the garbage collector after Retain. A second End
// panics, because the memory may already be another request's.
func (s *Scope) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		panic("harena/scope: End of a scope that no Pool made; use Pool.Get")
	}
	before := s.state.Or(ended)
	if before&ended != 0 {
		panic("harena/scope: End of a scope that has ended; end it once, where its owner ends")
	}
	used := s.BytesUsed()
	s.pool.count(before, used)
	s.free(&s.arena, before)
	for _, a := range s.adopted {
		s.free(a, before)
	}
	s.adopted = nil
}

func (s *Scope) free(a *arena.Arena, state uint32) {
	if state&retained != 0 {
		a.Retain()
	}
	a.Free()
}

// Abandon ends the scope without touching its memory, which is left to the garbage collector: for
// owners that cannot know whether somebody still works on it. It reports whether the scope had not
// ended before.
func (s *Scope) Abandon() bool {
	before := s.state.Or(ended | retained)
	if before&ended != 0 {
		return false
	}
	s.pool.count(before|retained, 0)
	s.AbandonArena(&s.arena)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.adopted {
		s.AbandonArena(a)
	}
	return true
}

// OnLost makes the scope count as ended if it becomes unreachable without End, for owners that may
// lose it. The cleanup is to be stopped before End. REQUIRES: the mode is not [Heap].
func (s *Scope) OnLost() runtime.Cleanup {
	pool, leave := s.pool, s.arena.BudgetLeaver()
	return runtime.AddCleanup(s, func(lost func()) { lost() }, func() {
		leave()
		pool.Lost()
	})
}

// String is for logs; it does not touch the arena.
func (s *Scope) String() string {
	state := s.state.Load()
	return fmt.Sprintf("scope(%v, retained %v, ended %v)", s.options.Mode, state&retained != 0, state&ended != 0)
}
