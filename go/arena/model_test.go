package arena

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// model drives one arena with a string of operations and knows what every live object has to hold.
type model struct {
	t     *testing.T
	pool  *Pool
	arena *Arena
	next  int
	live  []func() string // each says what is wrong with its object, or ""
	kept  []func() string // the same for what was retained: true for ever
	// Slices that may still be appended to.
	slices []*[]int
}

// Each operation gets one byte of its own to vary by.
var modelOperations = []func(m *model, vary int){
	(*model).newPerson,
	(*model).newPerson,
	(*model).newNumber,
	(*model).makeNodes,
	(*model).makeBytes,
	(*model).makeInts,
	(*model).appendInts,
	(*model).appendInts,
	(*model).makeString,
	(*model).makeMap,
	(*model).collect,
	(*model).reset,
	(*model).retainAndReset,
	(*model).free,
}

func runModel(t *testing.T, operations []byte) {
	pool := &Pool{}
	defer pool.Close()
	m := &model{t: t, pool: pool, arena: pool.Get()}
	for i := 0; i+1 < len(operations) && !t.Failed(); i += 2 {
		modelOperations[int(operations[i])%len(modelOperations)](m, int(operations[i+1]))
	}
	m.check()
}

func (m *model) id() int { m.next++; return m.next }

func (m *model) expect(check func() string) { m.live = append(m.live, check) }

func (m *model) check() {
	for _, list := range [][]func() string{m.live, m.kept} {
		for _, check := range list {
			if wrong := check(); wrong != "" {
				m.t.Fatalf("object of %d: %s", len(list), wrong)
			}
		}
	}
}

func (m *model) newPerson(vary int) {
	p, id := NewOf[person](m.arena), m.id()
	if p.Name != "" || p.Age != 0 || p.Tags != nil || p.Friend != nil || p.Any != nil || p.Balance != 0 {
		m.t.Fatalf("a new person is %+v", *p)
	}
	p.Name, p.Age, p.Friend, p.Any, p.Balance = fmt.Sprint("heap ", id), id, p, fmt.Sprint(vary), float64(id)
	m.expect(func() string {
		if p.Name != fmt.Sprint("heap ", id) || p.Age != id || p.Friend != p || p.Any != fmt.Sprint(vary) || p.Balance != float64(id) {
			return fmt.Sprintf("person %d is %+v", id, *p)
		}
		return ""
	})
}

var modelKind = KindOf[int32]()

func (m *model) newNumber(int) {
	v, id := modelKind.New(m.arena), int32(m.id())
	if *v != 0 {
		m.t.Fatalf("a new number is %d", *v)
	}
	*v = id
	m.expect(func() string {
		if *v != id {
			return fmt.Sprintf("number %d is %d", id, *v)
		}
		return ""
	})
}

func (m *model) makeNodes(vary int) {
	length := vary * vary / 8
	s, id := MakeSlice[node](m.arena, length, length+vary%5), m.id()
	s = s[:cap(s)]
	for i := range s {
		if s[i] != (node{}) {
			m.t.Fatalf("new node %d is %+v", i, s[i])
		}
		s[i] = node{next: &s[i], value: id}
	}
	m.expect(func() string {
		for i := range s {
			if s[i].next != &s[i] || s[i].value != id {
				return fmt.Sprintf("node %d of %d is %+v", i, id, s[i])
			}
		}
		return ""
	})
}

func (m *model) makeBytes(vary int) {
	source := make([]byte, vary*(1+vary%3*100))
	for i := range source {
		source[i] = byte(m.next + i)
	}
	copied := m.arena.Bytes(source)
	m.expect(func() string {
		if string(copied) != string(source) {
			return "bytes changed"
		}
		return ""
	})
}

func (m *model) makeInts(vary int) {
	m.slices = append(m.slices, new([]int))
	*m.slices[len(m.slices)-1] = MakeSlice[int](m.arena, 0, vary/16)
}

func (m *model) appendInts(vary int) {
	if len(m.slices) == 0 {
		m.makeInts(vary)
	}
	target := m.slices[vary%len(m.slices)]
	var want []int
	want = append(want, *target...)
	for range 1 + vary/4 {
		id := m.id()
		*target, want = Append(m.arena, *target, id), append(want, id)
	}
	got := *target
	for i, v := range got[len(got):cap(got)] {
		if v != 0 {
			m.t.Fatalf("spare room %d holds %d", i, v)
		}
	}
	m.expect(func() string {
		for i := range want {
			if got[i] != want[i] {
				return fmt.Sprintf("appended %d is %d, want %d", i, got[i], want[i])
			}
		}
		return ""
	})
}

func (m *model) makeString(vary int) {
	want := fmt.Sprintf("%0*d", 1+vary*8, m.id())
	got := m.arena.String(want)
	m.kept = append(m.kept, func() string { // strings are for ever
		if got != want {
			return "string changed"
		}
		return ""
	})
}

func (m *model) makeMap(vary int) {
	got, id := MakeMap[int, *person](m.arena), m.id()
	if len(got) != 0 {
		m.t.Fatalf("a new map has %d entries", len(got))
	}
	for i := range vary * 2 {
		got[i] = &person{Age: id}
	}
	m.expect(func() string {
		if len(got) != vary*2 {
			return fmt.Sprintf("map %d has %d entries", id, len(got))
		}
		for _, p := range got {
			if p.Age != id {
				return fmt.Sprintf("map %d holds %d", id, p.Age)
			}
		}
		return ""
	})
}

func (m *model) collect(vary int) {
	if vary%16 == 0 {
		runtime.GC()
	}
	m.check()
}

func (m *model) reset(int) {
	m.check()
	m.arena.Reset()
	m.live, m.slices = nil, nil
}

func (m *model) retainAndReset(int) {
	m.arena.Retain()
	m.kept = append(m.kept, m.live...)
	m.reset(0)
}

func (m *model) free(vary int) {
	m.check()
	if vary%2 == 0 {
		m.arena.Retain()
		m.kept = append(m.kept, m.live...)
	}
	m.arena.Free()
	m.arena = m.pool.Get()
	m.live, m.slices = nil, nil
}

func TestRandomOperationsAgainstModel(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 10
	}
	for seed := range runs {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			operations := make([]byte, 2*(50+random.IntN(400)))
			for i := range operations {
				operations[i] = byte(random.Uint32())
			}
			runModel(t, operations)
		})
	}
}

func FuzzArena(f *testing.F) {
	f.Add([]byte{0, 1, 3, 200, 6, 9, 11, 0, 0, 1, 6, 9, 3, 200, 13, 0, 3, 100})
	f.Add([]byte{5, 255, 6, 1, 2, 0, 6, 1, 12, 0, 6, 200, 6, 200, 10, 0})
	f.Add([]byte{9, 200, 9, 2, 11, 0, 9, 2, 13, 1, 9, 9, 8, 255, 8, 3})
	f.Fuzz(func(t *testing.T, operations []byte) { runModel(t, operations[:min(len(operations), 300)]) })
}
