//go:build harena_debug

package arena

import (
	"reflect"
	"strings"
	"testing"
)

// staleWrites collects what is reported while the test runs.
func staleWrites(t *testing.T) *[]*StaleWrite {
	var found []*StaleWrite
	OnStaleWrite(func(w *StaleWrite) { found = append(found, w) })
	t.Cleanup(func() { OnStaleWrite(nil) })
	return &found
}

func TestStaleReadersSeePoison(t *testing.T) {
	for _, end := range []func(*Arena){(*Arena).Reset, (*Arena).Free} {
		a := ownPool(t)
		p := NewOf[person](a)
		*p = person{Name: "x", Age: 1, Tags: []string{"t"}, Friend: p, Any: 1, Balance: 1}
		numbers := MakeSlice[uint16](a, 3, 3)
		flags := MakeSlice[bool](a, 1, 1)
		m := MakeMap[int, int](a)
		m[1] = 1
		end(a)
		if p.Name != "harena/arena: read after Reset" || uint64(p.Age) != 0xDBDBDBDBDBDBDBDB ||
			p.Tags != nil || p.Friend != nil || p.Any != nil || numbers[2] != 0xDBDB || !flags[0] || len(m) != 0 {
			t.Errorf("%+v %x %v %v", *p, numbers, flags, m)
		}
	}
}

func TestMemoryIsNotReusedAfterReset(t *testing.T) {
	a := ownPool(t)
	seen := map[*node]bool{}
	for range 100 {
		n := NewOf[node](a)
		if seen[n] {
			t.Fatal("reused while in quarantine")
		}
		seen[n] = true
		a.Reset()
	}
}

func TestStaleWritesAreNamed(t *testing.T) {
	type part struct {
		numbers [3]int32
		link    *node
	}
	type whole struct {
		flag  bool
		text  string
		parts [2]part
		any   any
		list  []int
		call  func()
	}
	for field, write := range map[string]func(w *whole){
		".flag":                func(w *whole) { w.flag = false },
		".text":                func(w *whole) { w.text = "late" },
		".parts[1].numbers[2]": func(w *whole) { w.parts[1].numbers[2]++ },
		".parts[0].link":       func(w *whole) { w.parts[0].link = &node{} },
		".any":                 func(w *whole) { w.any = 1 },
		".list":                func(w *whole) { w.list = []int{1} },
		".call":                func(w *whole) { w.call = func() {} },
	} {
		found := staleWrites(t)
		a := ownPool(t)
		NewOf[whole](a)
		w := NewOf[whole](a)
		a.Reset()
		a.Reset()
		if len(*found) != 0 {
			t.Fatalf("reported without a write: %v", (*found)[0])
		}
		write(w)
		a.Reset()
		a.Reset()
		if len(*found) != 1 {
			t.Errorf("%s: %d reports, want 1", field, len(*found))
			continue
		}
		report := (*found)[0]
		if report.Field != field || report.Type != reflect.TypeFor[whole]() || report.Index != 1 {
			t.Errorf("%s: %+v", field, report)
		}
		if text := report.Error(); !strings.Contains(text, "TestStaleWritesAreNamed") || !strings.HasPrefix(text, "harena/arena: arena.whole"+field) {
			t.Errorf("%s: %s", field, text)
		}
	}
}

func TestStaleWriteToMapAndLargeArrayIsReported(t *testing.T) {
	found := staleWrites(t)
	a := ownPool(t)
	m := MakeMap[string, int](a)
	large := MakeSlice[int](a, 100_000, 100_000)
	a.Reset()
	m["late"] = 1
	large[77_777] = 1
	a.Reset()
	if len(*found) != 2 {
		t.Fatalf("%d reports, want 2", len(*found))
	}
	if w := (*found)[0]; w.Index != 77_777 || w.Type != reflect.TypeFor[int]() || w.Field != "" {
		t.Errorf("array: %v", w)
	}
	if w := (*found)[1]; w.Type != reflect.TypeFor[map[string]int]() {
		t.Errorf("map: %v", w)
	}
}

func TestStaleWriteAfterFreeIsFoundByThePool(t *testing.T) {
	found := staleWrites(t)
	a := ownPool(t)
	n := NewOf[node](a)
	a.Free()
	n.value = 1
	a.pool.Drain()
	if len(*found) != 1 || (*found)[0].Field != ".value" {
		t.Errorf("%v", *found)
	}
}

func TestStaleWritePanicsWithoutHook(t *testing.T) {
	a := ownPool(t)
	n := NewOf[node](a)
	a.Reset()
	n.value = 1
	defer func() {
		if w, ok := recover().(*StaleWrite); !ok || w.Field != ".value" {
			t.Errorf("panic %v", w)
		}
	}()
	a.Reset()
}

func TestQuarantineIsBounded(t *testing.T) {
	found := staleWrites(t)
	a := ownPool(t)
	early := NewOf[node](a)
	a.Reset()
	early.value = 1
	for range 1000 {
		MakeSlice[int](a, 1000, 1000)
		MakeMap[int, int](a)
		a.Reset()
	}
	a.Reset()
	debug := &a.state.debug
	if debug.bytes > quarantineBytesMax || len(debug.maps) > quarantineMapsMax {
		t.Errorf("%d bytes, %d maps", debug.bytes, len(debug.maps))
	}
	if len(*found) != 1 {
		t.Errorf("%d reports, want 1: what leaves the quarantine is looked at", len(*found))
	}
}

func TestRetainedMemoryIsNotPoisoned(t *testing.T) {
	found := staleWrites(t)
	a := ownPool(t)
	n := NewOf[node](a)
	m := MakeMap[int, int](a)
	n.value = 1
	a.Retain()
	a.Reset()
	if n.value != 1 {
		t.Error("poisoned")
	}
	n.value, m[1] = 2, 2
	a.Reset()
	if len(*found) != 0 {
		t.Errorf("%v", (*found)[0])
	}
}
