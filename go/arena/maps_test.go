package arena

import (
	"math"
	"reflect"
	"testing"
)

func address(m any) uintptr { return uintptr(reflect.ValueOf(m).UnsafePointer()) }

func TestMapsAreClearedAndHandedOutAgain(t *testing.T) {
	if Debug {
		t.Skip("harena_debug does not reuse maps")
	}
	a := ownPool(t)
	first := MakeMap[float64, *node](a)
	first[1], first[math.NaN()] = &node{}, &node{}
	at := address(first)
	a.Reset()
	again := MakeMap[float64, *node](a)
	if address(again) != at || len(again) != 0 {
		t.Errorf("reused: %v, %d entries", address(again) == at, len(again))
	}
	for range again {
		t.Error("an entry of the earlier round")
	}
}

func TestMapsOfOneRoundAreDistinct(t *testing.T) {
	a := ownPool(t)
	for round := range 4 {
		seen := map[uintptr]bool{}
		var maps []map[string]int
		for i := range 100 + 50*(round%2) {
			m := MakeMap[string, int](a)
			if len(m) != 0 || seen[address(m)] {
				t.Fatal("handed out twice")
			}
			seen[address(m)] = true
			for j := range i * 4 { // some grow too large to be kept
				m[string(rune(j))] = i
			}
			maps = append(maps, m)
		}
		for i, m := range maps {
			if len(m) != i*4 {
				t.Fatalf("map %d has %d entries", i, len(m))
			}
			for _, v := range m {
				if v != i {
					t.Fatal("shared")
				}
			}
		}
		a.Reset()
	}
}

func TestGrownMapsAreNotKept(t *testing.T) {
	a := ownPool(t)
	many, heavy := MakeMap[int, int](a), MakeMap[int, [1 << 12]byte](a)
	for i := range mapEntriesMax + 1 {
		many[i] = i
	}
	for i := range 5 {
		heavy[i] = [1 << 12]byte{}
	}
	a.Reset()
	if stats := a.Stats(); stats.Maps != 0 || stats.BytesHeld != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestMapTypesAndNamedMapsAreDistinct(t *testing.T) {
	type named map[int]int
	a := ownPool(t)
	plain := MakeMap[int, int](a)
	ptr := MapTypeOf(reflect.TypeFor[named]()).New(a)
	if uintptr(ptr) == address(plain) {
		t.Error("shared between types")
	}
	if MapTypeOf(reflect.TypeFor[named]()) == MapTypeOf(reflect.TypeFor[map[int]int]()) {
		t.Error("one MapType for two types")
	}
}
