package arena

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// node holds pointers, person is the usual filled struct.
type node struct {
	next  *node
	value int
}

type person struct {
	Name    string
	Age     int
	Tags    []string
	Friend  *person
	Any     any
	Balance float64
}

// wantPanic runs f, which has to panic with a message that holds text.
func wantPanic(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		message, _ := recover().(string)
		if !strings.HasPrefix(message, "harena/arena: ") || !strings.Contains(message, text) {
			t.Errorf("panic %q, want harena/arena: ... %q", message, text)
		}
	}()
	f()
}

// ownPool gives a test an arena that nobody else's memory goes into.
func ownPool(t *testing.T) *Arena {
	pool := &Pool{}
	t.Cleanup(pool.Close)
	return pool.Get()
}

func TestZeroArenaIsReadyToUse(t *testing.T) {
	var a, b, c, d, e Arena
	if p := NewOf[person](&a); p.Name != "" {
		t.Error("not zero")
	}
	if got := b.String("text"); got != "text" {
		t.Errorf("String: %q", got)
	}
	if MakeMap[int, int](&c) == nil {
		t.Error("nil map")
	}
	d.Reset()
	d.Retain()
	d.SetBytesMax(10)
	if e.Stats() != (Stats{}) || e.BytesUsed() != 0 {
		t.Error("an unused arena has statistics")
	}
	for _, arena := range []*Arena{&a, &b, &c, &d, &e} {
		arena.Free()
	}
}

func TestResetReusesMemoryAndZeroesIt(t *testing.T) {
	if Debug {
		t.Skip("harena_debug does not reuse memory; debug_on_test.go has its rules")
	}
	a := ownPool(t)
	first := NewOf[person](a)
	*first = person{Name: "kept", Age: 7, Tags: []string{"x"}, Friend: first, Any: 3}
	a.Reset()
	if first.Name != "" || first.Age != 0 || first.Tags != nil || first.Friend != nil || first.Any != nil {
		t.Errorf("not zeroed: %+v", *first)
	}
	if again := NewOf[person](a); again != first {
		t.Error("not reused")
	}
}

func TestFreeHandsMemoryToTheNextArena(t *testing.T) {
	if Debug {
		t.Skip("harena_debug does not reuse memory")
	}
	pool := &Pool{}
	defer pool.Close()
	a := pool.Get()
	first := NewOf[node](a)
	first.value = 1
	a.Free()
	b := pool.Get()
	defer b.Free()
	if again := NewOf[node](b); again != first || again.value != 0 {
		t.Errorf("got %p with %d, want %p with 0", again, again.value, first)
	}
}

func TestUseAfterFreePanics(t *testing.T) {
	kind := KindOf[node]()
	uses := map[string]func(a *Arena){
		"Reset":       (*Arena).Reset,
		"Retain":      (*Arena).Retain,
		"SetBytesMax": func(a *Arena) { a.SetBytesMax(1) },
		"Stats":       func(a *Arena) { a.Stats() },
		"BytesUsed":   func(a *Arena) { a.BytesUsed() },
		"String":      func(a *Arena) { a.String("x") },
		"String ''":   func(a *Arena) { a.String("") },
		"Bytes":       func(a *Arena) { a.Bytes([]byte{1}) },
		"NewOf":       func(a *Arena) { NewOf[node](a) },
		"Kind.New":    func(a *Arena) { kind.New(a) },
		"MakeSlice":   func(a *Arena) { MakeSlice[int](a, 0, 0) },
		"Append":      func(a *Arena) { Append(a, []int(nil), 1) },
		"MakeMap":     func(a *Arena) { MakeMap[int, int](a) },
		"zero-sized":  func(a *Arena) { NewOf[struct{}](a) },
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			used, unused := ownPool(t), ownPool(t)
			NewOf[node](used)
			used.Free()
			unused.Free()
			wantPanic(t, "use of an arena after Free", func() { use(used) })
			wantPanic(t, "use of an arena after Free", func() { use(unused) })
		})
	}
}

func TestDoubleFreePanics(t *testing.T) {
	used, unused := ownPool(t), ownPool(t)
	NewOf[node](used)
	used.Free()
	unused.Free()
	wantPanic(t, "was freed before", used.Free)
	wantPanic(t, "was freed before", unused.Free)
	if kept := used.pool.Stats().ArenasKept; kept != 1 {
		t.Errorf("%d arenas in the pool, want 1", kept)
	}
}

func TestCopyPanicsWhenItNeedsMemory(t *testing.T) {
	a := ownPool(t)
	NewOf[node](a)
	bytes := *(*[unsafe.Sizeof(Arena{})]byte)(unsafe.Pointer(a)) // as a copy that vet did not see
	copied := (*Arena)(unsafe.Pointer(&bytes))
	for _, use := range []func(){
		func() { NewOf[int64](copied) },
		func() { copied.String("x") },
		func() { MakeMap[int, int](copied) },
		copied.Reset, copied.Free, copied.Retain,
		func() {
			for range 10 * chunkBytesMin {
				NewOf[node](copied)
			}
		},
	} {
		wantPanic(t, "use of a copy of an arena", use)
	}
	runtime.KeepAlive(a)
}

func TestRetainKeepsEverythingOfItsRound(t *testing.T) {
	for _, end := range []string{"Reset", "Free"} {
		a := ownPool(t)
		early := NewOf[node](a)
		a.Retain()
		late := NewOf[node](a)
		large := MakeSlice[node](a, 5000, 5000)
		m := MakeMap[string, *node](a)
		early.value, late.value, large[4999].value = 1, 2, 3
		early.next, m["late"] = late, late
		pool := a.pool
		if end == "Reset" {
			a.Reset()
		} else {
			a.Free()
			a = pool.Get()
		}
		for range 3 {
			for range 100 {
				NewOf[node](a).value = 9
				MakeMap[string, *node](a)["x"] = nil
			}
			clear(MakeSlice[node](a, 5000, 5000))
			a.Reset()
			runtime.GC()
		}
		if early.value != 1 || early.next.value != 2 || large[4999].value != 3 || len(m) != 1 || m["late"] != late {
			t.Errorf("%s took retained memory", end)
		}
	}
}

func TestRetainIsForOneRound(t *testing.T) {
	if Debug {
		t.Skip("harena_debug does not reuse memory")
	}
	a := ownPool(t)
	a.Retain()
	NewOf[node](a)
	a.Reset()
	first := NewOf[node](a)
	a.Reset()
	if NewOf[node](a) != first {
		t.Error("retained for more than a round")
	}
}

func TestArenaEmbedsByValue(t *testing.T) {
	pool := &Pool{}
	defer pool.Close()
	type request struct {
		id    int
		arena Arena
	}
	r := &request{id: 1}
	for round := range 100 {
		pool.Init(&r.arena)
		if n := NewOf[node](&r.arena); n.value != 0 {
			t.Fatal("stale value")
		} else {
			n.value = round + 1
		}
		if round == 50 {
			wantPanic(t, "Init of an arena that is in use", func() { pool.Init(&r.arena) })
		}
		r.arena.Free()
	}
	if r.id != 1 {
		t.Error("Init wrote beyond the arena")
	}
	if made := pool.Stats().Made; made != 1 {
		t.Errorf("made %d times, want once", made)
	}
	if Debug {
		t.Skip("harena_debug allocates")
	}
	if allocs := testing.AllocsPerRun(100, func() {
		pool.Init(&r.arena)
		NewOf[node](&r.arena)
		r.arena.Free()
	}); allocs != 0 {
		t.Errorf("%v allocations per round, want 0", allocs)
	}
}

// collected runs the garbage collector until done says so.
func collected(t *testing.T, done func() bool) bool {
	t.Helper()
	for range 50 {
		runtime.GC()
		if done() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

func TestNewFinalizerIsCountedAndItsObjectsStay(t *testing.T) {
	before := DefaultPool.Stats().Abandoned
	kept := func() *node {
		a := NewFinalizer()
		n := NewOf[node](a)
		n.value = 42
		return n
	}()
	if !collected(t, func() bool { return DefaultPool.Stats().Abandoned == before+1 }) {
		t.Error("not counted")
	}
	if kept.value != 42 {
		t.Error("taken from under its user")
	}
}

func TestNewFinalizerThatWasFreedIsNotAbandoned(t *testing.T) {
	before := DefaultPool.Stats().Abandoned
	func() {
		a := NewFinalizer()
		NewOf[node](a)
		a.Free()
	}()
	for range 10 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if got := DefaultPool.Stats().Abandoned; got != before {
		t.Errorf("abandoned %d, want %d", got, before)
	}
}
