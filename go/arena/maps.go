package arena

import (
	"reflect"
	"sync"
	"unsafe"
)

const (
	// A map that held more than this is left to the garbage collector: maps never shrink, and
	// clearing one takes time in proportion to what it once held.
	mapEntriesMax      = 256
	mapEntriesBytesMax = 16 << 10
	// About what an empty map takes.
	mapBytes = 48
)

// MapType is the [Type] of a map type: its maps are kept and cleared instead of made anew.
//
// Thread rule: any goroutine. Its methods are under the thread rule of the arena they are given.
type MapType struct {
	id         int // from 1 on, so that a zero MapType names no list
	typ        reflect.Type
	entryBytes uintptr // key and value
}

var mapTypes struct {
	of    sync.Map // reflect.Type to *MapType
	mutex sync.Mutex
	count int
}

// MapTypeOf returns the MapType of t. REQUIRES: t is a map type.
func MapTypeOf(t reflect.Type) *MapType {
	if found, ok := mapTypes.of.Load(t); ok {
		return found.(*MapType)
	}
	if t.Kind() != reflect.Map {
		panic("harena/arena: MapTypeOf: want a map type, not " + t.String())
	}
	mapTypes.mutex.Lock()
	defer mapTypes.mutex.Unlock()
	if found, ok := mapTypes.of.Load(t); ok {
		return found.(*MapType)
	}
	mapTypes.count++
	made := &MapType{id: mapTypes.count, typ: t, entryBytes: t.Key().Size() + t.Elem().Size()}
	mapTypes.of.Store(t, made)
	return made
}

// New returns an empty map, as a map value of the type is one pointer. The arena's bound counts the
// map but not the memory that it takes for its entries.
func (m *MapType) New(a *Arena) unsafe.Pointer {
	st := a.ready()
	if m == nil || m.id == 0 {
		panic("harena/arena: zero MapType; use MapTypeOf")
	}
	lists := &st.maps
	if m.id >= len(lists.of) {
		grown := make([]*mapList, m.id+1)
		copy(grown, lists.of)
		lists.of = grown
	}
	list := lists.of[m.id]
	if list == nil {
		list = &mapList{typ: m}
		lists.of[m.id] = list
	}
	if list.used == 0 {
		lists.touched = append(lists.touched, list)
	}
	st.charged += mapBytes
	return list.next(st)
}

// MakeMap returns an empty map that the arena clears and hands out again after Reset. A map that
// holds more than 256 entries, or 16 KiB of them, when that happens is not kept.
func MakeMap[K comparable, V any](a *Arena) map[K]V {
	ptr := MapTypeOf(reflect.TypeFor[map[K]V]()).New(a)
	return *(*map[K]V)(unsafe.Pointer(&ptr))
}

// mapLists are the maps of one arena, by MapType.id.
type mapLists struct {
	of      []*mapList
	touched []*mapList
}

// mapList is the maps of one type; the first `used` are handed out.
type mapList struct {
	typ  *MapType
	maps []keptMap
	used int
	// What they take, about.
	bytes uintptr
	peak  int // the most used between two resets, since trimUnused last looked
}

type keptMap struct {
	value   reflect.Value
	entries int // the most seen at a reset: the room it has
}

func (l *mapList) next(st *state) unsafe.Pointer {
	if l.used == len(l.maps) {
		l.maps = append(l.maps, keptMap{value: reflect.MakeMap(l.typ.typ)})
		l.count(st, mapBytes)
	}
	m := l.maps[l.used]
	l.used++
	return m.value.UnsafePointer()
}

func (ls *mapLists) reset(st *state, keep bool) {
	for i, l := range ls.touched {
		l.reset(st, keep)
		ls.touched[i] = nil
	}
	ls.touched = ls.touched[:0]
}

// reset clears the maps that were handed out, or drops them when keep is false.
func (l *mapList) reset(st *state, keep bool) {
	l.peak = max(l.peak, l.used)
	for i := l.used - 1; i >= 0; i-- {
		m := &l.maps[i]
		entries := m.value.Len()
		if keep && Debug {
			m.value.Clear()
			st.debug.quarantineMap(m.value)
		}
		if keep && st.sample != nil {
			m.value.Clear()
			st.sample.addMap(m.value)
			continue // the state is dropped with all it has
		}
		if keep && !Debug && entries <= mapEntriesMax && uintptr(entries)*l.typ.entryBytes <= mapEntriesBytesMax {
			if entries > 0 {
				m.value.Clear()
			}
			if entries > m.entries {
				l.count(st, uintptr(entries-m.entries)*l.typ.entryBytes)
				m.entries = entries
			}
			continue
		}
		// The last one takes its place: order means nothing here.
		last := len(l.maps) - 1
		l.maps[i], l.maps[last] = l.maps[last], l.maps[i]
		l.dropFrom(st, last)
	}
	l.used = 0
}

// count keeps the books; bytes may be negative, in two's complement.
func (l *mapList) count(st *state, bytes uintptr) {
	l.bytes += bytes
	st.bytesHeld += bytes
}

// dropFrom leaves the maps from the i-th on to the garbage collector.
func (l *mapList) dropFrom(st *state, i int) {
	for _, m := range l.maps[i:] {
		l.count(st, -(mapBytes + uintptr(m.entries)*l.typ.entryBytes))
	}
	clear(l.maps[i:])
	l.maps = l.maps[:i]
}
