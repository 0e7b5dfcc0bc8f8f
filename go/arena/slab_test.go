package arena

import (
	"testing"
	"unsafe"
)

func TestZeroSizedTypesTakeNothing(t *testing.T) {
	a := ownPool(t)
	for range 1000 {
		if NewOf[struct{}](a) == nil || KindOf[[0]node]().New(a) == nil {
			t.Fatal("nil")
		}
	}
	if s := Append(a, MakeSlice[struct{}](a, 10, 20), make([]struct{}, 90)...); len(s) != 100 {
		t.Errorf("length %d", len(s))
	}
	if stats := a.Stats(); stats.BytesUsed != 0 || stats.BytesTaken != 0 || stats.Chunks != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestHugeValues(t *testing.T) {
	type huge struct {
		head *int
		body [1 << 20]byte
		tail *int
	}
	a := ownPool(t)
	for range 3 {
		one := 1
		values := []*huge{NewOf[huge](a), NewOf[huge](a), &MakeSlice[huge](a, 3, 3)[2]}
		for i, v := range values {
			if v.head != nil || v.body[1<<19] != 0 || v.tail != nil {
				t.Fatal("not zero")
			}
			v.head, v.body[1<<19], v.tail = &one, byte(i+1), &one
		}
		for i, v := range values {
			if v.body[1<<19] != byte(i+1) || *v.head != 1 || *v.tail != 1 {
				t.Fatal("overlap")
			}
		}
		a.Reset()
	}
}

// Arrays of all sizes, with patterns, over and over: nothing overlaps and all of it is zero at first.
func TestArraysOfAllSizesDoNotOverlap(t *testing.T) {
	a := ownPool(t)
	for round := range 20 {
		var all [][]uint16
		for i := range 200 {
			length := 1 << (uint(i*7+round) % 17)
			s := MakeSlice[uint16](a, length, length+i%3)
			for j, v := range s[:cap(s)] {
				if v != 0 {
					t.Fatalf("round %d: %d at %d of a new array", round, v, j)
				}
				s[:cap(s)][j] = uint16(i + 1)
			}
			all = append(all, s[:cap(s)])
		}
		for i, s := range all {
			for _, v := range s {
				if v != uint16(i+1) {
					t.Fatalf("round %d: array %d was overwritten by %d", round, i, v-1)
				}
			}
		}
		a.Reset()
	}
}

// What one round needed and the next 128 did not is given back; what they need stays.
func TestUnusedChunksAreTrimmed(t *testing.T) {
	a := ownPool(t)
	MakeSlice[node](a, 1<<20, 1<<20)
	for range 100_000 {
		NewOf[person](a)
	}
	for range 1000 {
		MakeMap[int, int](a)[1] = 1
	}
	a.Reset()
	for range 2*trimResets + 1 {
		for range 100 {
			NewOf[person](a)
		}
		MakeMap[int, int](a)
		a.Reset()
	}
	if stats := a.Stats(); stats.BytesHeld > 64<<10 || stats.Maps > 1 || !Debug && stats.Chunks == 0 {
		t.Errorf("%+v", stats)
	}
}

func TestTrimKeepsTheBooks(t *testing.T) {
	a := ownPool(t)
	fill := func() {
		MakeSlice[node](a, 1<<16, 1<<16)
		MakeSlice[int32](a, 1<<14, 1<<14)
		for range 10_000 {
			NewOf[person](a)
			MakeMap[int, int](a)
		}
	}
	for _, bytesMax := range []uintptr{1 << 20, 100_000, 1, 0} {
		fill()
		a.Reset()
		a.state.trim(bytesMax)
		var held uintptr
		for _, s := range a.state.slabs {
			for _, c := range append(s.chunks[:len(s.chunks):len(s.chunks)], s.large...) {
				held += c.bytes
			}
		}
		for _, l := range a.state.maps.of {
			if l != nil {
				held += uintptr(len(l.maps)) * mapBytes
			}
		}
		if held != a.state.bytesHeld || held > bytesMax {
			t.Errorf("trim to %d: %d held, %d in the books", bytesMax, held, a.state.bytesHeld)
		}
	}
}

// The type that holds too much pays, not the ones that hold little.
func TestTrimTakesFromTheLargest(t *testing.T) {
	if Debug {
		t.Skip("harena_debug keeps no chunks")
	}
	a := ownPool(t)
	small := NewOf[node](a)
	MakeMap[int, int](a)
	for range 100 {
		MakeSlice[int](a, 10_000, 10_000)
	}
	a.Reset()
	a.state.trim(100_000)
	stats := a.Stats()
	if stats.BytesHeld > 100_000 || stats.BytesHeld < 80_000 || stats.Maps != 1 {
		t.Errorf("%+v", stats)
	}
	if NewOf[node](a) != small {
		t.Error("the small type's memory was dropped")
	}
}

func TestStatsCountBytes(t *testing.T) {
	a := ownPool(t)
	for range 10 {
		NewOf[node](a)
	}
	a.String("0123456789")
	MakeSlice[byte](a, 0, 100_000)
	MakeMap[int, int](a)
	nodes, array := uintptr(10)*unsafe.Sizeof(node{}), uintptr(100_000)
	stats := a.Stats()
	if stats.BytesUsed != int64(nodes+array) || stats.TextBytes != 10 || stats.Maps != 1 || stats.Chunks != 2 {
		t.Errorf("%+v", stats)
	}
	if stats.BytesTaken < stats.BytesUsed || stats.BytesHeld < stats.BytesUsed {
		t.Errorf("%+v", stats)
	}
	if a.BytesUsed() != stats.BytesUsed+stats.TextBytes {
		t.Errorf("BytesUsed %d", a.BytesUsed())
	}
	a.Reset()
	if stats = a.Stats(); stats.BytesUsed != 0 || stats.TextBytes != 0 || stats.BytesTaken != 0 || stats.Resets != 1 {
		t.Errorf("after Reset: %+v", stats)
	}
}
