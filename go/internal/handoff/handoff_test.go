package handoff

import (
	"sync"
	"testing"
)

type message struct{ n int }

func TestFindTakeRemove(t *testing.T) {
	var table Table[string]
	m := &message{}
	key := Key(m)
	if _, found := table.Find(key); found {
		t.Error("an empty table finds something")
	}
	e := &Entry[string]{Value: "v"}
	table.Put(key, e)
	if v, found := table.Find(key); !found || v != "v" {
		t.Errorf("Find = %q, %v", v, found)
	}
	if v, found := table.Take(key); !found || v != "v" {
		t.Errorf("Take = %q, %v", v, found)
	}
	if _, found := table.Take(key); found || table.Len() != 0 {
		t.Error("the entry is still there after Take")
	}
	if table.Remove(key, e) {
		t.Error("Remove of what was taken reports true")
	}
	table.Put(key, e)
	if !table.Remove(key, e) || table.Len() != 0 {
		t.Error("Remove does not remove")
	}
}

func TestSameMessageTwice(t *testing.T) {
	for removed := range 3 {
		var table Table[int]
		key := Key(&message{})
		entries := []*Entry[int]{{Value: 0}, {Value: 1}, {Value: 2}}
		for _, e := range entries {
			table.Put(key, e)
		}
		if !table.Remove(key, entries[removed]) {
			t.Fatalf("entry %d is not there", removed)
		}
		seen := map[int]bool{}
		for range 2 {
			v, found := table.Take(key)
			if !found || v == removed || seen[v] {
				t.Errorf("after Remove of %d Take = %d, %v", removed, v, found)
			}
			seen[v] = true
		}
		if _, found := table.Take(key); found {
			t.Error("more entries than were put")
		}
	}
}

func TestKeyOfOtherThanPointers(t *testing.T) {
	if Key(nil) != nil || Key(message{}) != nil || Key("text") != nil || Key((*message)(nil)) != nil {
		t.Error("something that is no pointer to a message has a key")
	}
}

func TestManyGoroutines(t *testing.T) {
	var table Table[int]
	var group sync.WaitGroup
	shared := &message{}
	for w := range 8 {
		group.Go(func() {
			for i := range 2000 {
				own := &message{n: i}
				e, f := &Entry[int]{Value: w}, &Entry[int]{Value: w}
				table.Put(Key(own), e)
				table.Put(Key(shared), f)
				if v, found := table.Find(Key(own)); !found || v != w {
					t.Errorf("worker %d finds %d, %v", w, v, found)
				}
				if !table.Remove(Key(own), e) || !table.Remove(Key(shared), f) {
					t.Error("an entry is gone")
				}
			}
		})
	}
	group.Wait()
	if table.Len() != 0 {
		t.Errorf("%d entries are left", table.Len())
	}
}

func BenchmarkPutTake(b *testing.B) {
	var table Table[int]
	e, m := &Entry[int]{}, &message{}
	b.ReportAllocs()
	for b.Loop() {
		table.Put(Key(m), e)
		table.Take(Key(m))
	}
}
