package scope

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/harena-project/harena/go/arena"
)

func newPool(t *testing.T, o Options) *Pool {
	t.Helper()
	p, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// panicOf returns what f panics with.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func TestEndRecyclesMemory(t *testing.T) {
	p := newPool(t, Options{})
	s := p.Get()
	*arena.NewOf[int](s.Arena()) = 7
	if s.BytesUsed() != 8 {
		t.Errorf("BytesUsed() = %d, want 8", s.BytesUsed())
	}
	s.End()
	stats := p.Stats()
	if stats.Arenas.ArenasKept != 1 || stats.ScopesStarted != 1 || stats.ScopesEnded != 1 || stats.ScopesRetained != 0 {
		t.Errorf("after End: %+v, want one arena kept, one scope started and ended, none retained", stats)
	}
	if stats.BytesUsedMax != 8 || stats.BytesUsedSum != 8 {
		t.Errorf("bytes used: max %d, sum %d, want 8 and 8", stats.BytesUsedMax, stats.BytesUsedSum)
	}
}

func TestRetainedMemoryIsNeverReused(t *testing.T) {
	p := newPool(t, Options{})
	kept := make([]*int, 0, 100)
	for i := range cap(kept) {
		s := p.Get()
		v := arena.NewOf[int](s.Arena())
		if *v != 0 {
			t.Fatalf("a new value is %d, want 0", *v)
		}
		*v = i + 1
		kept = append(kept, v)
		s.Retain()
		s.End()
	}
	for i, v := range kept {
		if *v != i+1 {
			t.Errorf("kept value %d reads %d", i+1, *v)
		}
	}
	if got := p.Stats().ScopesRetained; got != 100 {
		t.Errorf("ScopesRetained = %d, want 100", got)
	}
}

func TestHeapScopesAreRetained(t *testing.T) {
	p := newPool(t, Options{Mode: Heap})
	s := p.Get()
	v := arena.NewOf[int](s.Arena())
	*v = 7
	s.End()
	if *v != 7 || !s.Retained() {
		t.Errorf("value %d, retained %v; want 7, true", *v, s.Retained())
	}
}

func TestEndTwicePanics(t *testing.T) {
	s := newPool(t, Options{}).Get()
	s.End()
	text, _ := panicOf(s.End).(string)
	if !strings.HasPrefix(text, "harena/scope: End of a scope that has ended") {
		t.Errorf("second End panics with %q", text)
	}
}

func TestEndWithoutPoolPanics(t *testing.T) {
	text, _ := panicOf(new(Scope).End).(string)
	if !strings.Contains(text, "use Pool.Get") {
		t.Errorf("End of a zero scope panics with %q", text)
	}
}

func TestStartTwicePanics(t *testing.T) {
	p := newPool(t, Options{})
	s := p.Get()
	defer s.End()
	if panicOf(func() { p.Start(s) }) == nil {
		t.Error("Start of a scope in use does not panic")
	}
}

func TestUseAfterEndPanics(t *testing.T) {
	s := newPool(t, Options{}).Get()
	s.End()
	text, _ := panicOf(func() { arena.NewOf[int](s.Arena()) }).(string)
	if !strings.HasPrefix(text, "harena/arena: use of an arena after Free") {
		t.Errorf("an allocation after End panics with %q", text)
	}
}

func TestAbandonEndsOnceAndTouchesNothing(t *testing.T) {
	p := newPool(t, Options{})
	s := p.Get()
	v := arena.NewOf[int](s.Arena())
	*v = 7
	if !s.Abandon() || s.Abandon() {
		t.Error("Abandon reports true once, then false")
	}
	*arena.NewOf[int](s.Arena()) = 8 // somebody still works on it
	if *v != 7 {
		t.Errorf("value after Abandon is %d, want 7", *v)
	}
	if panicOf(s.End) == nil {
		t.Error("End after Abandon does not panic")
	}
	if stats := p.Stats(); stats.ScopesEnded != 1 || stats.ScopesRetained != 1 || stats.Arenas.ArenasKept != 0 {
		t.Errorf("after Abandon: %+v", stats)
	}
}

func TestAdoptedArenasEndWithTheScope(t *testing.T) {
	p := newPool(t, Options{})
	s := p.Get()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			a := s.NewArena()
			arena.NewOf[int](a)
			s.Adopt(a)
		})
	}
	group.Wait()
	s.End()
	if got := p.Stats().Arenas.ArenasKept; got != 5 {
		t.Errorf("%d arenas kept, want the 4 adopted ones and the scope's own", got)
	}
}

func TestAdoptAfterEndLeavesMemoryAlone(t *testing.T) {
	p := newPool(t, Options{})
	s := p.Get()
	a := s.NewArena()
	v := arena.NewOf[int](a)
	*v = 7
	s.End()
	s.Adopt(a)
	if *v != 7 || p.Stats().Arenas.ArenasKept != 1 { // the scope's own
		t.Errorf("value %d, %d arenas kept; want 7, 1", *v, p.Stats().Arenas.ArenasKept)
	}
}

func TestRequestBytesMaxBoundsTheArena(t *testing.T) {
	p := newPool(t, Options{RequestBytesMax: 10_000})
	s := p.Get()
	defer s.End()
	refusal, ok := panicOf(func() { arena.MakeSlice[byte](s.Arena(), 20_000, 20_000) }).(*arena.LimitError)
	if !ok || refusal.BytesMax != 10_000 {
		t.Errorf("over the limit: %v", refusal)
	}
}

// All arenas of a scope share its limit. What goroutines make beyond it is on the heap, and counted.
func TestArenasShareRequestBytesMax(t *testing.T) {
	limitProcess(t, 0)
	p := newPool(t, Options{RequestBytesMax: 10_000})
	s := p.Get()
	arena.MakeSlice[byte](s.Arena(), 2000, 2000)
	arenas := []*arena.Arena{s.NewArena(), s.NewArena(), s.NewArena()}
	for i, a := range arenas {
		if len(arena.MakeSlice[byte](a, 3000, 3000)) != 3000 {
			t.Error("a goroutine does not get what it asked for")
		}
		if crossed := s.Err() != nil; crossed != (i == 2) {
			t.Errorf("after %d arenas of 3000 bytes and one of 2000: %v", i+1, s.Err())
		}
	}
	over := s.Err().(*arena.LimitError)
	if over.Budget != RequestBytesMax || over.BytesMax != 10_000 || over.BytesWanted != 3000 || over.BytesTaken < 8000 {
		t.Errorf("%+v", over)
	}
	if used := process.BytesUsed(); used < 11_000 {
		t.Errorf("%d bytes count for the process", used)
	}
	// What the others took is not the scope's own arena's to take.
	if panicOf(func() { arena.MakeSlice[byte](s.Arena(), 1000, 1000) }) == nil {
		t.Error("the scope's own arena is over the limit alone")
	}
	for _, a := range arenas[:2] {
		s.Adopt(a)
	}
	s.AbandonArena(arenas[2])
	s.End()
	if used, stats := process.BytesUsed(), p.Stats().Arenas; used != 0 || stats.ArenasOut != 0 || s.Err() != nil {
		t.Errorf("after End: %d bytes are counted, %+v, %v", used, stats, s.Err())
	}
	// The share of a scope that has ended is nobody else's.
	late := s.NewArena()
	arena.MakeSlice[byte](late, 20_000, 20_000)
	next := p.Get()
	arena.MakeSlice[byte](next.Arena(), 9000, 9000)
	next.End()
}

// Every way to allocate goes on beyond the limit, on goroutines that nobody recovers.
func TestGoroutinesGoOnBeyondTheLimit(t *testing.T) {
	type node struct{ text string }
	p := newPool(t, Options{RequestBytesMax: 1000})
	for name, allocate := range map[string]func(a *arena.Arena){
		"NewOf":     func(a *arena.Arena) { arena.NewOf[[4096]byte](a)[4095] = 1 },
		"Kind":      func(a *arena.Arena) { arena.KindOf[[4096]byte]().New(a)[4095] = 1 },
		"MakeSlice": func(a *arena.Arena) { arena.MakeSlice[node](a, 0, 1000) },
		"Append":    func(a *arena.Arena) { arena.Append(a, make([]node, 1000), node{text: "x"}) },
		"Bytes":     func(a *arena.Arena) { a.Bytes(make([]byte, 5000)) },
		"String":    func(a *arena.Arena) { a.String(strings.Repeat("x", 5000)) },
	} {
		s := p.Get()
		a := s.NewArena()
		done := make(chan any)
		go func() { done <- panicOf(func() { allocate(a) }) }()
		if panicked := <-done; panicked != nil || s.Err() == nil {
			t.Errorf("%s: panic %v, error %v", name, panicked, s.Err())
		}
		if arena.TypeOf(reflect.TypeFor[[4096]byte]()).New(a) != nil {
			t.Errorf("%s: the codec's allocations are not refused", name)
		}
		s.Adopt(a)
		s.End()
	}
}
