package arena

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Budget bounds what several arenas take together. The zero value has no bound.
//
// Arenas take from it in steps of up to 64 KiB, so that a small one asks once; close to the bound they
// ask for what they need and no more.
//
// Thread rule: any goroutine.
type Budget struct {
	// Name is what errors call the bound. It is to be set before the budget is used.
	Name string

	bytesMax, bytesUsed atomic.Int64
	refusals            atomic.Uint64
	makeRoom            atomic.Pointer[func()]
}

// budgetStepBytes is what an arena takes from a budget at once, for what it will need next.
const budgetStepBytes = 64 << 10

// SetBytesMax bounds the budget from now on. What is over the bound already stays. Zero or less means
// no bound.
func (b *Budget) SetBytesMax(bytesMax int64) { b.bytesMax.Store(max(bytesMax, 0)) }

// BytesMax returns the bound, or zero.
func (b *Budget) BytesMax() int64 { return b.bytesMax.Load() }

// BytesUsed returns what has been taken and was not given back.
func (b *Budget) BytesUsed() int64 { return b.bytesUsed.Load() }

// Refusals counts what was not given because of the bound.
func (b *Budget) Refusals() uint64 { return b.refusals.Load() }

// OnFull sets a function that may end what nobody uses any more. It is called before the budget refuses,
// which then looks once more whether there is room. It runs on the goroutines that allocate, perhaps on
// several at once, and must not use their arenas.
func (b *Budget) OnFull(makeRoom func()) { b.makeRoom.Store(&makeRoom) }

// take counts bytes, if the bound allows them.
func (b *Budget) take(bytes int64) bool {
	for {
		used, most := b.bytesUsed.Load(), b.bytesMax.Load()
		if most > 0 && bytes > most-used {
			return false
		}
		// Not an addition that is undone when it was too much: for that moment a giant's bytes would
		// refuse everybody else's.
		if b.bytesUsed.CompareAndSwap(used, used+bytes) {
			return true
		}
	}
}

// takeFull is take for when there was no room.
func (b *Budget) takeFull(bytes int64) bool {
	makeRoom := b.makeRoom.Load()
	if makeRoom == nil {
		return false
	}
	(*makeRoom)()
	return b.take(bytes)
}

// share is what an arena has of a budget, together with those that it was lent to.
type share struct {
	budget *Budget // nil without one; set while nobody else has the arena

	mutex         sync.Mutex
	lent          bool // to other arenas: then it is no later arena's
	name          string
	bytesMax      int64 // of all its arenas together; 0: no bound
	granted, used int64
	spilled       *LimitError // the first that an arena took from the heap nevertheless
}

// grant takes what is missing for further bytes from the budget. REQUIRES: the mutex is held.
func (s *share) grant(bytes int64) bool {
	missing := s.used + bytes - s.granted
	if missing <= 0 {
		return true
	}
	step := max(missing, budgetStepBytes)
	if !s.budget.take(step) {
		if step = missing; !s.budget.take(step) && !s.budget.takeFull(step) {
			return false
		}
	}
	s.granted += step
	return true
}

// account is what one arena has of a share.
type account struct {
	share *share // nil without one

	// Guarded by the share's mutex.
	used   int64
	closed bool // the owner has left the memory to the garbage collector
}

func (a *account) hasBudget() bool { return a.share != nil && a.share.budget != nil }

// take counts bytes that are about to be taken, or returns what does not allow them.
func (a *account) take(bytes int64) *LimitError {
	if !a.hasBudget() {
		return nil
	}
	s := a.share
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if a.closed {
		return nil
	}
	if s.bytesMax > 0 && bytes > s.bytesMax-s.used {
		return &LimitError{Budget: s.name, BytesMax: s.bytesMax, BytesTaken: s.used}
	}
	if b := s.budget; !s.grant(bytes) {
		b.refusals.Add(1)
		return &LimitError{Budget: b.Name, BytesMax: b.BytesMax(), BytesTaken: b.BytesUsed()}
	}
	s.used += bytes
	a.used += bytes
	return nil
}

// spill counts bytes that are taken although over does not allow them.
func (a *account) spill(bytes int64, over *LimitError) {
	s := a.share
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.spilled == nil {
		s.spilled = over
	}
	if a.closed {
		return
	}
	if missing := s.used + bytes - s.granted; missing > 0 {
		s.budget.bytesUsed.Add(missing)
		s.granted += missing
	}
	s.used += bytes
	a.used += bytes
}

// give gives everything back. With closed nothing is counted any more.
func (a *account) give(closed bool) {
	if !a.hasBudget() {
		return
	}
	s := a.share
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.used -= a.used
	a.used, a.closed = 0, closed
	s.budget.bytesUsed.Add(s.used - s.granted)
	s.granted = s.used
}

// end makes the account that of an arena without a budget. REQUIRES: everything is given back.
func (a *account) end() {
	s := a.share
	if s == nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	a.closed = false
	if s.lent {
		a.share = nil
	} else {
		s.budget, s.name, s.bytesMax = nil, "", 0
	}
}

// SetBudget makes the arena take part in a budget, beside its own bound: until Free, an allocation
// that the budget does not allow fails like one beyond [Arena.SetBytesMax]. Reset and Free give back
// what was taken. REQUIRES: nothing is handed out.
func (a *Arena) SetBudget(b *Budget) {
	a.budget = b
	if a.state != nil && a.state != freed {
		a.joinBudget()
	}
}

// SetBudgetUntilLost is SetBudget for an arena that may become unreachable without Free.
func (a *Arena) SetBudgetUntilLost(b *Budget) {
	a.untilLost = true
	a.SetBudget(b)
}

// SetSharedBytesMax bounds what the arena and those that it is lent to (see [Arena.Lend]) take of the
// budget together, in bytes, until Free. Zero or less means no bound. Errors call the bound by the name,
// as if it were a budget. REQUIRES: the arena has a budget, and was not lent.
func (a *Arena) SetSharedBytesMax(name string, bytesMax int64) {
	s := a.ready().account.share
	s.name, s.bytesMax = name, max(bytesMax, 0)
}

// Lend makes another arena draw on this one's budget and shared bound until its Free, also when it
// becomes unreachable without Free. It is for arenas of other goroutines: since nobody recovers a panic
// there, what is over a bound or the budget is ordinary memory of the Go heap. It is counted like
// everything else, and [Arena.Spilled] tells of it. The untyped allocations of [Type] return nil as ever.
//
// Thread rule: any goroutine, while nobody calls this arena's Free. REQUIRES: this arena has a budget,
// and nothing is handed out of the other, which has none.
func (a *Arena) Lend(other *Arena) {
	s := a.state.account.share
	s.mutex.Lock()
	s.lent = true
	s.mutex.Unlock()
	st := other.ready()
	st.account.share, st.spills = s, true
	st.cleanup = runtime.AddCleanup(other, func(leave func()) { leave() }, other.BudgetLeaver())
}

// Spilled returns the error of the first allocation that an arena which this one was lent to took from
// the heap, or nil. It may be called while others use those arenas.
func (a *Arena) Spilled() *LimitError {
	if a.state == nil || !a.state.account.hasBudget() {
		return nil
	}
	s := a.state.account.share
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.spilled
}

// joinBudget is for when there is a state.
func (a *Arena) joinBudget() {
	if a.state.account.share == nil {
		a.state.account.share = new(share)
	}
	a.state.account.share.budget = a.budget
	if a.untilLost {
		a.state.cleanup = runtime.AddCleanup(a, func(leave func()) { leave() }, a.BudgetLeaver())
	}
}

// HasBudget reports whether the arena takes part in a budget that has a bound.
func (a *Arena) HasBudget() bool {
	account := &a.ready().account
	return account.hasBudget() && account.share.budget.BytesMax() > 0
}

// TakeBudget counts memory outside of the arena that lives as long against the arena's budget. It
// reports false, and counts nothing, when the budget does not allow it.
func (a *Arena) TakeBudget(bytes int64) bool {
	st := a.ready()
	st.overBudget = st.account.take(bytes)
	return st.overBudget == nil
}

// LeaveBudget gives back what the arena took from its budget, from which on it is not counted: for
// owners that leave an arena to the garbage collector. Unlike other methods it may be called while
// another goroutine uses the arena, but not while one uses it for the first time.
func (a *Arena) LeaveBudget() {
	if a.state != nil {
		a.state.account.give(true)
	}
}

// BudgetLeaver returns LeaveBudget for when the arena itself is gone, as the argument of
// [runtime.AddCleanup] has to be. REQUIRES: the cleanup is stopped before Free.
func (a *Arena) BudgetLeaver() func() {
	account := &a.ready().account
	return func() { account.give(true) }
}

// OverBudget returns the error of the last allocation, if it was refused by the arena's budget.
func (a *Arena) OverBudget() *LimitError {
	if a.state == nil {
		return nil
	}
	return a.state.overBudget
}
