package arena

import (
	"errors"
	"testing"
)

// limitOf returns the LimitError that f panics with.
func limitOf(t *testing.T, f func()) (limit *LimitError) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		if !errors.Is(err, ErrLimit) || !errors.As(err, &limit) {
			t.Fatalf("panic %v, want a *LimitError", err)
		}
	}()
	f()
	return nil
}

func TestLimitStopsEveryWayToAllocate(t *testing.T) {
	kind := KindOf[[4096]byte]()
	for name, f := range map[string]func(a *Arena){
		"NewOf":         func(a *Arena) { NewOf[[4096]byte](a) },
		"Uninitialized": func(a *Arena) { NewOfUninitialized[[4096]byte](a) },
		"Kind.New":      func(a *Arena) { kind.New(a) },
		"MakeSlice":     func(a *Arena) { MakeSlice[int64](a, 0, 512) },
		"large":         func(a *Arena) { MakeSlice[int64](a, 0, 1<<20) },
		"Append":        func(a *Arena) { Append(a, make([]byte, 4000), 1) },
		"String":        func(a *Arena) { a.String(string(make([]byte, 4096))) },
		"Bytes":         func(a *Arena) { a.Bytes(make([]byte, 4096)) },
	} {
		t.Run(name, func(t *testing.T) {
			a := ownPool(t)
			a.SetBytesMax(4095)
			limit := limitOf(t, func() { f(a) })
			if limit.BytesMax != 4095 || limit.BytesTaken != 0 || limit.BytesWanted < 4096 {
				t.Errorf("%+v", limit)
			}
			if n := NewOf[node](a); n == nil {
				t.Error("nothing else can be had")
			}
			a.SetBytesMax(0)
			f(a)
		})
	}
}

func TestUntypedAllocationsReturnNilBeyondTheLimit(t *testing.T) {
	a := ownPool(t)
	a.SetBytesMax(100)
	if byteType.NewArray(a, 101) != nil || TypeOf(byteType.elem).New(a) == nil {
		t.Error("want nil for 101 bytes and not for one")
	}
}

// The bound decides, not how memory happens to be cut: a new arena and one that holds large chunks
// allow the same.
func TestLimitIsTheSameForNewAndUsedArenas(t *testing.T) {
	count := func(a *Arena) (n int) {
		a.SetBytesMax(100_000)
		limitOf(t, func() {
			for ; ; n++ {
				NewOf[node](a)
			}
		})
		return n
	}
	a := ownPool(t)
	if got := count(a); got != 6250 {
		t.Errorf("new: %d nodes of 16 bytes, want 6250", got)
	}
	a.Reset()
	for range 1_000_000 {
		a.SetBytesMax(0)
		NewOf[node](a)
	}
	for range 3 {
		a.Reset()
		if got := count(a); got != 6250 {
			t.Errorf("used: %d nodes of 16 bytes, want 6250", got)
		}
	}
}

func TestLimitAllowsArraysThatFitExactly(t *testing.T) {
	a := ownPool(t)
	a.SetBytesMax(80_000)
	for range 3 {
		MakeSlice[int64](a, 0, 10_000)
		a.Reset()
	}
}

func TestLimitEndsWithFreeAndNotWithReset(t *testing.T) {
	a := ownPool(t)
	a.SetBytesMax(1000)
	a.Reset()
	limitOf(t, func() { MakeSlice[byte](a, 0, 1001) })
	a.Free()
	b := a.pool.Get()
	MakeSlice[byte](b, 0, 100_000)
}

func TestMapsCountAgainstTheLimit(t *testing.T) {
	a := ownPool(t)
	a.SetBytesMax(4800)
	for range 100 {
		MakeMap[int, int](a)
	}
	limitOf(t, func() { NewOf[node](a) })
}

func TestAbsurdLengthsPanic(t *testing.T) {
	a := ownPool(t)
	wantPanic(t, "length out of range", func() { MakeSlice[int](a, -1, 0) })
	wantPanic(t, "length out of range", func() { MakeSlice[int](a, 2, 1) })
	wantPanic(t, "length out of range", func() { MakeSlice[node](a, 0, int(^uint(0)>>1)) })
	wantPanic(t, "length out of range", func() { byteType.NewArray(a, -1) })
	if byteType.NewArray(a, 0) == nil {
		t.Error("no values are not a refusal")
	}
}

func TestLimitErrorNamesItsNumbers(t *testing.T) {
	a := ownPool(t)
	a.SetBytesMax(1000)
	a.String("0123456789")
	limit := limitOf(t, func() { a.String(string(make([]byte, 991))) })
	if want := "harena/arena: the limit of 1000 bytes does not allow 991 more: 10 are taken"; limit.Error() != want {
		t.Errorf("%q, want %q", limit.Error(), want)
	}
	if errors.Is(limit, errors.ErrUnsupported) {
		t.Error("it is every error")
	}
}
