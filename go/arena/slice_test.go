package arena

import (
	"slices"
	"testing"
	"unsafe"
)

func TestMakeSliceHasLengthAndCapacity(t *testing.T) {
	a := ownPool(t)
	for _, s := range [][]node{MakeSlice[node](a, 3, 7), MakeSliceUninitialized[node](a, 3, 7)} {
		if len(s) != 3 || cap(s) != 7 {
			t.Errorf("len %d, cap %d", len(s), cap(s))
		}
	}
	if s := KindOf[node]().MakeSlice(a, 5); len(s) != 5 || cap(s) != 5 {
		t.Errorf("Kind: len %d, cap %d", len(s), cap(s))
	}
	if s := MakeSlice[node](a, 0, 0); s == nil || cap(s) != 0 {
		t.Error("an empty slice is not nil")
	}
}

func TestPlainAppendDoesNotRunIntoTheNeighbour(t *testing.T) {
	a := ownPool(t)
	first := MakeSlice[int](a, 2, 2)
	second := MakeSlice[int](a, 2, 2)
	_ = append(first, 7)
	if second[0] != 0 {
		t.Error("the neighbour was written")
	}
}

func TestAppendGrowsInPlaceAtTheEnd(t *testing.T) {
	a := ownPool(t)
	s := MakeSlice[int](a, 4, 4)
	grown := Append(a, s, 1)
	if unsafe.SliceData(grown) != unsafe.SliceData(s) || cap(grown) != 8 {
		t.Error("moved")
	}
	// The same slice again does not end at the end any more: it must move, or both would overlap.
	other := Append(a, s, 2)
	if unsafe.SliceData(other) == unsafe.SliceData(s) || grown[4] != 1 || other[4] != 2 {
		t.Error("two results share their growth")
	}
}

func TestAppendMovesWhenSomethingFollows(t *testing.T) {
	a := ownPool(t)
	s := Append(a, []int(nil), 1, 2, 3, 4)
	next := NewOf[int](a)
	s = Append(a, s, 5)
	*next = 9
	if !slices.Equal(s, []int{1, 2, 3, 4, 5}) || *next != 9 {
		t.Errorf("%v %d", s, *next)
	}
}

func TestAppendTakesHeapAndForeignSlices(t *testing.T) {
	a, b := ownPool(t), ownPool(t)
	NewOf[int](a)
	for _, s := range [][]int{nil, {}, {1}, make([]int, 3, 10), MakeSlice[int](b, 2, 2)} {
		want := append(slices.Clone(s), 7, 8)
		if got := Append(a, s, 7, 8); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if s := Append(a, []int(nil)); s != nil {
		t.Error("nothing appended to nil is nil")
	}
}

func TestAppendOneByOne(t *testing.T) {
	a := ownPool(t)
	for range 3 {
		var s, other []int
		for i := range 50_000 {
			s = Append(a, s, i)
			if i%100 == 0 {
				other = Append(a, other, -i)
			}
		}
		for i, v := range s {
			if v != i {
				t.Fatalf("%d at %d", v, i)
			}
		}
		for i, v := range other {
			if v != -100*i {
				t.Fatalf("%d at %d of the other", v, i)
			}
		}
		a.Reset()
	}
}

func TestAppendedRoomIsZero(t *testing.T) {
	a := ownPool(t)
	for range 3 {
		s := Append(a, MakeSlice[int](a, 4, 4), 1)
		for _, v := range s[5:cap(s)] {
			if v != 0 {
				t.Error("stale value in the spare room")
			}
		}
		for i := range s[:cap(s)] {
			s[:cap(s)][i] = -1
		}
		a.Reset()
	}
}

func TestCloneOutlivesTheArena(t *testing.T) {
	a := ownPool(t)
	p := NewOf[person](a)
	p.Name = "Ann"
	s := Append(a, []int(nil), 1, 2, 3)
	text := string(a.Bytes([]byte("text")))
	type named string
	clonedP, clonedS, clonedT, clonedN := Clone(p), Clone(s), Clone(text), Clone(named(text))
	a.Reset()
	if clonedP.Name != "Ann" || !slices.Equal(clonedS, []int{1, 2, 3}) || clonedT != "text" || clonedN != "text" {
		t.Error("a clone changed")
	}
	if unsafe.StringData(clonedT) == unsafe.StringData(text) {
		t.Error("the string was not copied")
	}
	if Clone((*node)(nil)) != nil || Clone([]int(nil)) != nil || Clone("") != "" {
		t.Error("nil and empty stay so")
	}
	wantPanic(t, "want a pointer, a slice or a string, not int", func() { Clone(1) })
}
