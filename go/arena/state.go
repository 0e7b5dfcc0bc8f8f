package arena

import (
	"math/bits"
	"reflect"
	"runtime"
	"unsafe"
)

// state is an arena without its handle: what a pool keeps and hands on.
type state struct {
	pool    *Pool
	slabs   []*slab // by Type.id; unarmed where there is none
	touched []*slab // those used since the last reset
	maps    mapLists
	text    text
	cache   [cacheSize]cacheEntry
	debug   debugState
	sample  *sample         // where the memory goes at the next reset, when it is sampled
	cleanup runtime.Cleanup // of NewFinalizer

	retain    bool
	spills    bool  // over a bound, to the heap
	bytesMax  int64 // 0: no bound
	bytesHeld uintptr
	slabCount int
	charged   int64 // bytes taken since the last reset
	account   account
	// Why the last allocation was refused, when it was the budget.
	overBudget *LimitError
	usedPeak   int64 // the most bytes handed out in one round since the pool gave the state out
	resets     uint64
	// What the pool counts for the state while it keeps it.
	bytesPooled int64
}

// trimResets is how many resets pass between two looks at chunks that nobody needed.
const trimResets = 64

// slab returns the slab of t, made on first use.
func (a *Arena) slab(t *Type) *slab {
	st := a.ready()
	if t == nil || t.id == 0 {
		panic("harena/arena: zero Kind or Type; use KindOf or TypeOf")
	}
	if t.id >= uint(len(st.slabs)) {
		grown := make([]*slab, max(typeCount(), t.id)+1)
		for i := copy(grown, st.slabs); i < len(grown); i++ {
			grown[i] = unarmed
		}
		st.slabs = grown
	}
	a.slabs = st.slabs
	s := st.slabs[t.id]
	if s == unarmed {
		s = newSlab(t)
		st.slabCount++
		st.slabs[t.id] = s
	}
	return s
}

// slow is where every allocation goes that finds no room at hand. It returns nil when the bound
// does not allow the allocation.
func (a *Arena) slow(t *Type, n int) unsafe.Pointer {
	return a.slab(t).take(a.state, n)
}

// slowOrPanic is slow for callers who cannot do without: they get memory of the heap, or the panic.
func (a *Arena) slowOrPanic(t *Type, n int) unsafe.Pointer {
	if ptr := a.slow(t, n); ptr != nil {
		return ptr
	}
	a.state.spill(int64(n) * int64(t.size))
	return reflect.MakeSlice(t.slice, n, n).UnsafePointer()
}

// spill counts what is about to be taken from the heap because it is over a bound. It panics where
// that is not wanted.
func (st *state) spill(bytes int64) {
	over := st.limitError(bytes)
	if !st.spills {
		panic(over)
	}
	st.charged += bytes
	st.account.spill(bytes, over)
}

// limitError returns the error of an allocation that was refused.
func (st *state) limitError(bytesWanted int64) *LimitError {
	if e := st.overBudget; e != nil {
		e.BytesWanted = bytesWanted
		return e
	}
	return &LimitError{BytesMax: st.bytesMax, BytesTaken: st.charged, BytesWanted: bytesWanted}
}

func (st *state) reset() {
	st.debug.check()
	keep := !st.retain
	var used uintptr
	for i, s := range st.touched {
		used += s.reset(st, keep)
		st.touched[i] = nil
	}
	st.touched = st.touched[:0]
	st.maps.reset(st, keep)
	st.usedPeak = max(st.usedPeak, int64(used+st.text.bytes))
	st.text.bytes = 0
	st.retain = false
	st.charged = 0
	st.overBudget = nil
	st.account.give(false)
	if st.resets++; st.resets%trimResets == 0 {
		st.trimUnused()
	}
}

// trimUnused drops what none of the last resets needed.
func (st *state) trimUnused() {
	for _, s := range st.slabs {
		if s == unarmed {
			continue
		}
		s.drop(st, &s.chunks, min(s.chunksPeak, len(s.chunks)), len(s.chunks))
		s.drop(st, &s.large, min(s.largePeak, len(s.large)), len(s.large))
		s.chunksPeak, s.largePeak = 0, 0
	}
	for _, l := range st.maps.of {
		if l != nil {
			l.dropFrom(st, min(l.peak, len(l.maps)))
			l.peak = 0
		}
	}
}

// trim drops memory until at most bytesMax are held, from the types that hold most. REQUIRES: nothing
// is handed out.
func (st *state) trim(bytesMax uintptr) {
	if st.bytesHeld <= bytesMax {
		return
	}
	share := st.share(bytesMax)
	for _, s := range st.slabs {
		for len(s.large) > 0 && s.bytes > share {
			s.drop(st, &s.large, len(s.large)-1, len(s.large))
		}
		for len(s.chunks) > 0 && s.bytes > share {
			s.drop(st, &s.chunks, len(s.chunks)-1, len(s.chunks))
		}
	}
	for _, l := range st.maps.of {
		for l != nil && l.bytes > share {
			l.dropFrom(st, len(l.maps)-1)
		}
	}
}

// share returns how much each type may hold at most, for all of them together to hold bytesMax.
func (st *state) share(bytesMax uintptr) (share uintptr) {
	for bit := uintptr(1) << (bits.Len64(uint64(bytesMax))); bit > 0; bit >>= 1 {
		var sum uintptr
		for _, s := range st.slabs {
			sum += min(s.bytes, share|bit)
		}
		for _, l := range st.maps.of {
			if l != nil {
				sum += min(l.bytes, share|bit)
			}
		}
		if sum <= bytesMax {
			share |= bit
		}
	}
	return share
}

// bytesKept returns about what the state keeps alive while nothing is handed out.
func (st *state) bytesKept() int64 {
	return int64(st.bytesHeld) + int64(len(st.text.rest)) + int64(unsafe.Sizeof(*st)) +
		int64(len(st.slabs))*int64(unsafe.Sizeof(unarmed)) + int64(st.slabCount)*int64(unsafe.Sizeof(*unarmed))
}

// bytesUsed returns what was handed out since the last reset, text and maps excepted.
func (st *state) bytesUsed() uintptr {
	var used uintptr
	for _, s := range st.touched {
		used += s.bytesUsed()
	}
	return used
}
