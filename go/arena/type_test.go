package arena

import (
	"reflect"
	"testing"
	"unsafe"
)

// NewOf finds slabs by the first word of an interface. This holds what it assumes of it.
func TestTypeWord(t *testing.T) {
	word := func(v any) unsafe.Pointer { return (*interfaceWords)(unsafe.Pointer(&v)).typ }
	if unsafe.Sizeof(any(nil)) != unsafe.Sizeof(interfaceWords{}) {
		t.Fatal("an interface is not two words")
	}
	values := []any{(*int)(nil), (*node)(nil), (**node)(nil), (*[]node)(nil), (*struct{ a, b node })(nil), (*any)(nil), (*Kind[int])(nil), (*Kind[node])(nil)}
	seen := map[unsafe.Pointer]reflect.Type{}
	for _, v := range values {
		w := word(v)
		if w == nil || seen[w] != nil {
			t.Errorf("%T has the word of %v", v, seen[w])
		}
		seen[w] = reflect.TypeOf(v)
		if word(reflect.Zero(reflect.TypeOf(v)).Interface()) != w {
			t.Errorf("%T has two words", v)
		}
	}
}

func TestCacheCollisionsOnlyCostTime(t *testing.T) {
	a := ownPool(t)
	for range 3 {
		x, y := NewOf[int64](a), NewOf[float64](a)
		// As if both had one place in the cache.
		clear(a.state.cache[:])
		x2, y2 := NewOf[int64](a), NewOf[float64](a)
		*x, *y, *x2, *y2 = 1, 2, 3, 4
		if *x != 1 || *y != 2 || *x2 != 3 || *y2 != 4 {
			t.Error("overlap")
		}
		a.Reset()
	}
}

func TestHasPointers(t *testing.T) {
	type plain struct {
		_ int8
		_ [3]struct{ _ float32 }
	}
	for value, want := range map[any]bool{
		0: false, "": true, 1.5: false, uintptr(0): false, plain{}: false, node{}: true, [0]*int{}: false, [1]*int{}: true,
		struct{ any }{}: true, struct{ f chan int }{}: true, unsafe.Pointer(nil): true, complex64(0): false, true: false,
	} {
		if got := hasPointers(reflect.TypeOf(value)); got != want {
			t.Errorf("%T: %v", value, got)
		}
	}
}

func TestTypeIsOnePerGoType(t *testing.T) {
	const goroutines = 8
	got := make(chan *Type, goroutines)
	type fresh struct{ _ int }
	for range goroutines {
		go func() { got <- TypeOf(reflect.TypeFor[fresh]()) }()
	}
	first := <-got
	for range goroutines - 1 {
		if other := <-got; other != first {
			t.Error("two Types of one type")
		}
	}
	if first.Size() != unsafe.Sizeof(fresh{}) || first.id == 0 {
		t.Errorf("%+v", first)
	}
}

func TestZeroHandlesPanic(t *testing.T) {
	a := ownPool(t)
	NewOf[byte](a) // takes the lowest id
	MakeMap[int, int](a)
	var kind Kind[*node]
	wantPanic(t, "use KindOf", func() { kind.New(a) })
	wantPanic(t, "use KindOf", func() { kind.MakeSlice(a, 1) })
	wantPanic(t, "use KindOf", func() { new(Type).New(a) })
	wantPanic(t, "use KindOf", func() { new(Type).NewArray(a, 1) })
	wantPanic(t, "use MapTypeOf", func() { new(MapType).New(a) })
	wantPanic(t, "want a map type, not int", func() { MapTypeOf(reflect.TypeFor[int]()) })
}

// A Kind of one type must not pass for a Kind of another by conversion.
func TestKindsDoNotConvert(t *testing.T) {
	if reflect.TypeFor[Kind[byte]]().ConvertibleTo(reflect.TypeFor[Kind[*node]]()) {
		t.Error("Kind[byte] converts to Kind[*node]")
	}
}

func TestKindAndNewOfShareMemory(t *testing.T) {
	a := ownPool(t)
	kind := KindOf[node]()
	x, y, z := kind.New(a), NewOf[node](a), (*node)(TypeOf(reflect.TypeFor[node]()).New(a))
	size := unsafe.Sizeof(node{})
	if unsafe.Add(unsafe.Pointer(x), size) != unsafe.Pointer(y) || unsafe.Add(unsafe.Pointer(y), size) != unsafe.Pointer(z) {
		t.Error("not neighbours")
	}
}
