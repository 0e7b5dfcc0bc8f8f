package arena

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"
	"weak"
)

// churn makes garbage of the sizes that strings and nodes have, so that freed memory is overwritten.
func churn() {
	for i := range 20_000 {
		churned = fmt.Sprintf("garbage that takes the place of whatever was freed too early %d", i)
	}
	runtime.GC()
}

var churned string

// The hazard that arenas off the Go heap, or in memory that the collector does not scan, fail: heap
// strings that only objects in the arena refer to.
func TestHeapStringsInArenaSurviveCollections(t *testing.T) {
	type object struct {
		text   string
		number int
		self   *object
	}
	const count = 20_000
	a := ownPool(t)
	for round := range 2 {
		objects := make([]*object, count)
		for i := range objects {
			objects[i] = NewOf[object](a)
			*objects[i] = object{text: fmt.Sprintf("heap string %d of round %d", i, round), number: i, self: objects[i]}
		}
		for range 6 {
			churn()
		}
		corrupted, overlapping := 0, 0
		for i, o := range objects {
			if o.text != fmt.Sprintf("heap string %d of round %d", i, round) {
				corrupted++
			}
			if o.number != i || o.self != o {
				overlapping++
			}
		}
		if corrupted+overlapping > 0 {
			t.Fatalf("of %d objects %d are corrupted and %d overlap", count, corrupted, overlapping)
		}
		a.Reset()
	}
}

// Everything that can refer to the heap, under a collector that runs all the time.
func TestCollectorRunsAllTheTime(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	a := ownPool(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			churn()
		}
	}()
	defer func() { <-done }()
	for round := range 40 {
		var list *person
		for i := range 500 {
			p := NewOf[person](a)
			if p.Name != "" || p.Friend != nil || p.Tags != nil || p.Any != nil {
				t.Fatal("not zero")
			}
			p.Name = fmt.Sprint("name ", round, i)
			p.Tags = Append(a, p.Tags, fmt.Sprint("tag ", i), a.String("tag"))
			p.Any = fmt.Sprint("any ", i)
			p.Age = i
			p.Friend = list
			list = p
		}
		for p := list; p != nil; p = p.Friend {
			if p.Name != fmt.Sprint("name ", round, p.Age) || p.Tags[0] != fmt.Sprint("tag ", p.Age) ||
				p.Tags[1] != "tag" || p.Any != fmt.Sprint("any ", p.Age) {
				t.Fatalf("round %d: corrupted: %+v", round, *p)
			}
		}
		a.Reset()
	}
}

// A reset lets go of what the objects referred to, before their memory is used again.
func TestResetLetsGoOfWhatObjectsReferTo(t *testing.T) {
	a := ownPool(t)
	value := new([64]int)
	gone := weak.Make(value)
	NewOf[node](a).next = (*node)(unsafe.Pointer(value))
	large := MakeSlice[*[64]int](a, 10_000, 10_000)
	large[9999] = value
	MakeMap[int, *[64]int](a)[1] = value
	value, large = nil, nil
	runtime.GC()
	if gone.Value() == nil {
		t.Fatal("collected while the arena refers to it")
	}
	a.Reset()
	if !collected(t, func() bool { return gone.Value() == nil }) {
		t.Error("still alive after Reset")
	}
	runtime.KeepAlive(a)
}

// Retained memory is the garbage collector's: it lives exactly as long as somebody holds it.
func TestRetainedMemoryIsCollectedInTheEnd(t *testing.T) {
	a := ownPool(t)
	n, other := NewOf[node](a), MakeSlice[node](a, 10_000, 10_000)
	n.value, other[1].value = 42, 43
	a.Retain()
	a.Reset()
	small, large := weak.Make(n), weak.Make(&other[0])
	runtime.GC()
	if small.Value() == nil || large.Value() == nil || n.value != 42 || other[1].value != 43 {
		t.Fatal("collected while in use")
	}
	if held := a.Stats().BytesHeld; held != 0 {
		t.Errorf("the arena still holds %d bytes", held)
	}
	n, other = nil, nil
	if !collected(t, func() bool { return small.Value() == nil && large.Value() == nil }) {
		t.Error("still alive, although nobody holds it")
	}
	runtime.KeepAlive(a)
}

// An arena that nobody freed takes its memory with it.
func TestAbandonedMemoryIsCollected(t *testing.T) {
	pool := &Pool{}
	defer pool.Close()
	for _, get := range []func() *Arena{New, NewFinalizer, pool.Get} {
		memory := func() weak.Pointer[node] {
			a := get()
			return weak.Make(NewOf[node](a))
		}()
		if !collected(t, func() bool { return memory.Value() == nil }) {
			t.Error("still alive")
		}
	}
}

// A pointer to the middle of a chunk, an interior pointer and an array element keep the chunk.
func TestInteriorPointersKeepMemory(t *testing.T) {
	at := func() *int {
		a := ownPool(t)
		a.Retain()
		var n *node
		for range 10 {
			n = NewOf[node](a)
		}
		n.value = 42
		a.Free()
		return &n.value
	}()
	for range 3 {
		churn()
	}
	if *at != 42 {
		t.Error("collected")
	}
}
