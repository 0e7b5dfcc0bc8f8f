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

// account is what one arena has of a budget.
type account struct {
	budget *Budget // nil without one; set while nobody else has the arena

	mutex         sync.Mutex
	granted, used int64
	closed        bool // the owner has left the memory to the garbage collector
}

// take counts bytes that are about to be taken, if the budget allows them.
func (a *account) take(bytes int64) bool {
	if a.budget == nil {
		return true
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.closed {
		return true
	}
	if missing := a.used + bytes - a.granted; missing > 0 {
		switch step := max(missing, budgetStepBytes); {
		case a.budget.take(step):
			a.granted += step
		case step > missing && a.budget.take(missing):
			a.granted += missing
		default:
			return false
		}
	}
	a.used += bytes
	return true
}

// give gives everything back. With closed nothing is counted any more.
func (a *account) give(closed bool) {
	if a.budget == nil {
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.budget.bytesUsed.Add(-a.granted)
	a.granted, a.used, a.closed = 0, 0, closed
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

// joinBudget is for when there is a state.
func (a *Arena) joinBudget() {
	a.state.account.budget = a.budget
	if a.untilLost {
		a.state.cleanup = runtime.AddCleanup(a, func(leave func()) { leave() }, a.BudgetLeaver())
	}
}

// HasBudget reports whether the arena takes part in a budget that has a bound.
func (a *Arena) HasBudget() bool {
	b := a.ready().account.budget
	return b != nil && b.BytesMax() > 0
}

// TakeBudget counts memory outside of the arena that lives as long against the arena's budget. It
// reports false, and counts nothing, when the budget does not allow it.
func (a *Arena) TakeBudget(bytes int64) bool {
	st := a.ready()
	if st.account.take(bytes) {
		return true
	}
	st.refuse()
	return false
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

// refuse notes that the budget is why an allocation fails.
func (st *state) refuse() {
	b := st.account.budget
	b.refusals.Add(1)
	st.overBudget = &LimitError{Budget: b.Name, BytesMax: b.BytesMax(), BytesTaken: b.BytesUsed()}
}
