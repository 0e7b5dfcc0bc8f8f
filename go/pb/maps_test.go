package pb

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
)

// mapKey is a Go type that a map field may have as its key, with the kinds that are kept as it.
type mapKey struct {
	goType reflect.Type
	kinds  []kind
}

var mapKeys = []mapKey{
	{reflect.TypeFor[bool](), []kind{kindBool}},
	{reflect.TypeFor[int32](), []kind{kindInt32, kindSint32, kindFixed32}},
	{reflect.TypeFor[uint32](), []kind{kindUint32, kindFixed32}},
	{reflect.TypeFor[int64](), []kind{kindVarint64, kindSint64, kindFixed64}},
	{reflect.TypeFor[uint64](), []kind{kindVarint64, kindFixed64}},
	{reflect.TypeFor[string](), []kind{kindString}},
}

// mapElems are the Go types of values, by the kind that they are put with.
var mapElems = []struct {
	goType reflect.Type
	kind   kind
}{
	{reflect.TypeFor[bool](), kindBool},
	{reflect.TypeFor[int32](), kindInt32},
	{reflect.TypeFor[testpb.Mark](), kindInt32},
	{reflect.TypeFor[uint32](), kindUint32},
	{reflect.TypeFor[float32](), kindFixed32},
	{reflect.TypeFor[int64](), kindSint64},
	{reflect.TypeFor[uint64](), kindVarint64},
	{reflect.TypeFor[float64](), kindFixed64},
	{reflect.TypeFor[string](), kindString},
	{reflect.TypeFor[[]byte](), kindBytes},
	{reflect.TypeFor[*testpb.Pin](), kindMessage},
}

// numbered returns the n-th value of a Go type, in memory of its own that nothing else holds.
func numbered(t reflect.Type, n int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(n%2 == 1)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(n) - 1000)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(n) + 0.5)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n))
	case reflect.Slice:
		v.SetBytes(fmt.Append(nil, "bytes ", n))
	case reflect.Pointer:
		v.Set(reflect.ValueOf(&testpb.Pin{Name: fmt.Sprint("pin ", n)}))
	}
	return v
}

// asCell puts a value where the decoder keeps it on its way into a map.
func asCell(k kind, v reflect.Value) *cellValue {
	var c cellValue
	reflect.NewAt(v.Type(), c.at(k)).Elem().Set(v)
	return &c
}

func sameValue(a, b reflect.Value) bool {
	if a.Kind() == reflect.Pointer {
		return proto.Equal(a.Interface().(proto.Message), b.Interface().(proto.Message))
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// TestMapShapes: a map that is written as the map type of the same shape is, to its owner, the map it
// would have written; and the other way round. Held for every pair of key and value, across every way
// that the runtime keeps entries: one group of eight, one table, several tables.
func TestMapShapes(t *testing.T) {
	for _, key := range mapKeys {
		for _, elem := range mapElems {
			for _, keyKind := range key.kinds {
				name := fmt.Sprintf("map[%v]%v/%d", key.goType, elem.goType, keyKind)
				t.Run(name, func(t *testing.T) { checkMapShape(t, key.goType, keyKind, elem.goType, elem.kind) })
			}
		}
	}
}

func checkMapShape(t *testing.T, keyType reflect.Type, keyKind kind, elemType reflect.Type, elemKind kind) {
	mapType := reflect.MapOf(keyType, elemType)
	own := reflect.MakeMap(mapType)
	e := &entry{key: field{kind: keyKind}, value: field{kind: elemKind}}
	entries := 3000 // past eight, and past one table of 1024 slots
	if slow() {
		entries = 1100
	}
	put := func(from, to, offset int) {
		for n := from; n < to; n++ {
			putEntry(own.UnsafePointer(), e, asCell(keyKind, numbered(keyType, n)), asCell(elemKind, numbered(elemType, n+offset)))
		}
	}
	check := func(count int, want func(n int) (int, bool)) {
		t.Helper()
		if own.Len() != count {
			t.Fatalf("%d entries, want %d", own.Len(), count)
		}
		for n := range entries {
			if keyType.Kind() == reflect.Bool && n >= 2 {
				break
			}
			value, there := want(n)
			got := own.MapIndex(numbered(keyType, n))
			if got.IsValid() != there {
				t.Fatalf("entry %d: there is %v, want %v", n, got.IsValid(), there)
			}
			if there && !sameValue(got, numbered(elemType, value)) {
				t.Fatalf("entry %d: %v, want value %d", n, got, value)
			}
		}
	}
	if keyType.Kind() == reflect.Bool {
		put(0, 2, 1)
		runtime.GC()
		check(2, func(n int) (int, bool) { return n + 1, true })
		return
	}
	for _, count := range []int{1, 8, 9, 100, 1024, entries} {
		put(0, count, 0)
		check(count, func(n int) (int, bool) { return n, n < count })
	}
	runtime.GC()
	check(entries, func(n int) (int, bool) { return n, true })

	// The owner deletes every third and overwrites; we write some of them anew.
	for n := 0; n < entries; n += 3 {
		own.SetMapIndex(numbered(keyType, n), reflect.Value{})
	}
	for n := 1; n < entries; n += 3 {
		own.SetMapIndex(numbered(keyType, n), numbered(elemType, n+7))
	}
	put(0, 300, 11)
	gone := 0
	want := func(n int) (int, bool) {
		switch {
		case n < 300:
			return n + 11, true
		case n%3 == 0:
			return 0, false
		case n%3 == 1:
			return n + 7, true
		default:
			return n, true
		}
	}
	for n := range entries {
		if _, there := want(n); !there {
			gone++
		}
	}
	runtime.GC()
	check(entries-gone, want)
	own.Clear()
	put(0, 20, 5)
	check(20, func(n int) (int, bool) { return n + 5, n < 20 })
}

// TestMapsWhileCollecting: the collector walks maps that we write, and entries that only they hold.
func TestMapsWhileCollecting(t *testing.T) {
	stop := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	defer collector.Wait()
	defer close(stop)
	want := mapPairs(700)
	wire, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var a arena.Arena
	for range 20 {
		got := arena.NewOf[testpb.MapPairs](&a)
		if err := Unmarshal(&a, wire, got); err != nil {
			t.Fatal(err)
		}
		again, err := Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		back := new(testpb.MapPairs)
		if err := proto.Unmarshal(again, back); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(want, got) || !proto.Equal(want, back) {
			t.Fatal("the maps changed")
		}
		a.Reset()
	}
}

func mapPairs(entries int) *testpb.MapPairs {
	m := &testpb.MapPairs{
		Marks:   map[bool]testpb.Mark{true: testpb.Mark_MARK_LEFT, false: testpb.Mark_MARK_RIGHT},
		Blobs:   map[int32][]byte{},
		Pins:    map[uint64]*testpb.Pin{},
		Ratios:  map[int64]float32{},
		Numbers: map[int64]int64{},
		Flags:   map[uint32]bool{},
	}
	for n := range entries {
		m.Blobs[int32(n)-5] = binary.LittleEndian.AppendUint32(nil, uint32(n))
		m.Pins[uint64(n)<<40] = &testpb.Pin{Name: fmt.Sprint(n), Labels: map[string]string{fmt.Sprint("k", n): "v"}}
		m.Ratios[-int64(n)] = float32(n) / 3
		m.Numbers[int64(n)] = -int64(n)
		m.Flags[uint32(n)] = n%2 == 0
	}
	return m
}

// TestMapsInUse: user code adds to, deletes from and ranges over decoded maps, compiled for its own
// map types, and they stay in use after the arena was freed when it was told to retain.
func TestMapsInUse(t *testing.T) {
	wire, err := proto.Marshal(mapPairs(50))
	if err != nil {
		t.Fatal(err)
	}
	a := arena.New()
	m := arena.NewOf[testpb.MapPairs](a)
	if err := Unmarshal(a, wire, m); err != nil {
		t.Fatal(err)
	}
	a.Retain()
	a.Free()
	runtime.GC()
	want := mapPairs(50)
	for _, pairs := range []*testpb.MapPairs{m, want} {
		for n := range 3000 {
			pairs.Pins[uint64(n)] = &testpb.Pin{Name: "new"}
			pairs.Flags[uint32(n)+40] = true
		}
		for key := range pairs.Numbers {
			if key%3 == 0 {
				delete(pairs.Numbers, key)
			}
		}
		delete(pairs.Marks, true)
		clear(pairs.Ratios)
		pairs.Ratios[1] = 2
	}
	runtime.GC()
	if !proto.Equal(want, m) {
		t.Fatal("the maps differ from the same maps of the heap")
	}
	compareEncoding(t, m)
}

// TestMapOrder: sorted as protobuf sorts, negative keys first.
func TestMapOrder(t *testing.T) {
	m := &testpb.MapKeys{Int32Key: map[int32]string{}, Uint32Key: map[uint32]string{}, Int64Key: map[int64]string{},
		Sint64Key: map[int64]string{}, Fixed64Key: map[uint64]string{}, BoolKey: map[bool]string{true: "t", false: "f"}}
	for _, n := range []int64{0, 1, -1, 5, -5, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63} {
		m.Int32Key[int32(n)], m.Uint32Key[uint32(n)] = "a", "b"
		m.Int64Key[n], m.Sint64Key[n], m.Fixed64Key[uint64(n)] = "c", "d", "e"
	}
	compareEncoding(t, m)
}

// TestMapNilMessage: an entry without a value is an empty message to protobuf.
func TestMapNilMessage(t *testing.T) {
	compareEncoding(t, &testpb.MapPairs{Pins: map[uint64]*testpb.Pin{3: nil, 4: {Name: "x"}}})
	compareEncoding(t, &testpb.MapPairs{Blobs: map[int32][]byte{3: nil, 4: {}}})
}

// TestMapEntryValues: memory of an entry is the arena's, and not its neighbour's.
func TestMapEntryValues(t *testing.T) {
	var a arena.Arena
	wire, err := proto.Marshal(&testpb.MapPairs{Blobs: map[int32][]byte{1: []byte("one"), 2: []byte("two"), 3: {}}})
	if err != nil {
		t.Fatal(err)
	}
	m := new(testpb.MapPairs)
	if err := Unmarshal(&a, wire, m); err != nil {
		t.Fatal(err)
	}
	for key, blob := range m.Blobs {
		if cap(blob) != len(blob) {
			t.Errorf("%d: an append would run into a neighbour", key)
		}
	}
	if !slices.Equal(append(m.Blobs[1], 'x'), []byte("onex")) || string(m.Blobs[2]) != "two" {
		t.Error("an append changed a neighbour")
	}
	if unsafe.SliceData(m.Blobs[3]) == nil {
		t.Error("an empty value is nil")
	}
}
