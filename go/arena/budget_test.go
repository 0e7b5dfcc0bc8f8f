package arena

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
)

func budgeted(b *Budget) *Arena {
	a := New()
	a.SetBudget(b)
	return a
}

func TestBudgetIsShared(t *testing.T) {
	b := &Budget{Name: "ProcessBytesMax"}
	b.SetBytesMax(200 << 10)
	one, two := budgeted(b), budgeted(b)
	MakeSlice[byte](one, 150<<10, 150<<10)
	err := panicOf(func() { MakeSlice[byte](two, 100<<10, 100<<10) })
	if err == nil || err.Budget != "ProcessBytesMax" || err.BytesMax != 200<<10 || err.BytesWanted != 100<<10 ||
		err.BytesTaken < 150<<10 || !errors.Is(err, ErrLimit) {
		t.Errorf("%+v", err)
	}
	if b.Refusals() == 0 {
		t.Error("a refusal is not counted")
	}
	MakeSlice[byte](two, 20<<10, 20<<10) // what fits is served
	one.Free()
	MakeSlice[byte](two, 100<<10, 100<<10)
	two.Reset()
	if used := b.BytesUsed(); used != 0 {
		t.Errorf("%d bytes are used after Free and Reset", used)
	}
	two.Free()
}

func TestBudgetMakesRoomBeforeItRefuses(t *testing.T) {
	b := &Budget{}
	b.SetBytesMax(200 << 10)
	old, fresh := budgeted(b), budgeted(b)
	MakeSlice[byte](old, 150<<10, 150<<10)
	b.OnFull(old.LeaveBudget)
	MakeSlice[byte](fresh, 100<<10, 100<<10)
	if n := b.Refusals(); n != 0 {
		t.Errorf("%d refusals where room can be made", n)
	}
	if err := panicOf(func() { MakeSlice[byte](fresh, 150<<10, 150<<10) }); err == nil || b.Refusals() == 0 {
		t.Errorf("%v, %d refusals where none can be made", err, b.Refusals())
	}
}

// Close to the bound an arena takes what it needs, not the round number that would be good.
func TestBudgetIsUsedUp(t *testing.T) {
	b := &Budget{}
	b.SetBytesMax(100_000)
	a := budgeted(b)
	defer a.Free()
	count := 0
	for panicOf(func() { NewOf[[100]byte](a) }) == nil {
		count++
	}
	if count < 950 {
		t.Errorf("%d values of 100 bytes fit into 100,000", count)
	}
	if used := b.BytesUsed(); used > 100_000 {
		t.Errorf("%d bytes are used", used)
	}
}

func TestBudgetOfArenasThatAreLeft(t *testing.T) {
	b := &Budget{}
	a := budgeted(b)
	MakeSlice[byte](a, 50_000, 50_000)
	if !a.TakeBudget(1 << 20) {
		t.Error("a budget without a bound refuses")
	}
	if used := b.BytesUsed(); used < 50_000+1<<20 {
		t.Errorf("%d bytes are used", used)
	}
	a.LeaveBudget()
	MakeSlice[byte](a, 50_000, 50_000) // somebody goes on with it
	if used := b.BytesUsed(); used != 0 {
		t.Errorf("%d bytes are used of an arena that was left", used)
	}
	lost := New()
	lost.SetBudgetUntilLost(b)
	MakeSlice[byte](lost, 50_000, 50_000)
	lost = nil
	for range 100 {
		if runtime.GC(); b.BytesUsed() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes are used of an arena that was lost", b.BytesUsed())
}

// An arena that comes back to the pool serves the next owner without its predecessor's budget.
func TestBudgetEndsWithFree(t *testing.T) {
	b := &Budget{}
	b.SetBytesMax(1)
	pool := NewPool(PoolOptions{})
	a := pool.Get()
	a.SetBudget(b)
	if panicOf(func() { NewOf[int](a) }) == nil {
		t.Error("a budget of one byte allows an int")
	}
	a.Free()
	next := pool.Get()
	NewOf[int](next)
	next.Free()
}

func TestSafetyBudgetUnderStress(t *testing.T) {
	b := &Budget{}
	const most = 1 << 20
	b.SetBytesMax(most)
	var group sync.WaitGroup
	var mutex sync.Mutex
	refused := 0
	for w := range 8 {
		group.Go(func() {
			for i := range 200 {
				a := budgeted(b)
				for range 20 {
					if panicOf(func() { MakeSlice[byte](a, 10_000+100*w+i, 20_000) }) != nil {
						mutex.Lock()
						refused++
						mutex.Unlock()
						break
					}
					if used := b.BytesUsed(); used > most {
						t.Errorf("%d bytes are used", used)
					}
				}
				if i%7 == 0 {
					a.LeaveBudget()
				} else {
					a.Free()
				}
			}
		})
	}
	group.Wait()
	if used := b.BytesUsed(); used != 0 {
		t.Errorf("%d bytes do not come back", used)
	}
	t.Logf("safety: budgets_refused=%d", refused)
}

// panicOf returns the limit that f crosses, or nil.
func panicOf(f func()) (err *LimitError) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = panicked.(*LimitError)
		}
	}()
	f()
	return nil
}
