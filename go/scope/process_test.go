package scope

import (
	"runtime"
	"testing"
	"time"

	"github.com/harena-project/harena/go/arena"
)

// limitProcess bounds the process for one test.
func limitProcess(t *testing.T, bytesMax int64) {
	t.Helper()
	collect(t) // what other tests have lost
	process.SetBytesMax(bytesMax)
	t.Cleanup(func() { process.SetBytesMax(0) })
}

// collect waits until nothing is counted any more.
func collect(t *testing.T) {
	t.Helper()
	for range 200 {
		if runtime.GC(); process.BytesUsed() == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d bytes of the process's budget do not come back", process.BytesUsed())
}

// take makes an array of n bytes on the scope and reports whether there was room.
func take(s *Scope, n int) (ok bool) {
	defer func() {
		if panicked := recover(); panicked != nil {
			if panicked.(*arena.LimitError).Budget != ProcessBytesMax {
				panic(panicked)
			}
			ok = false
		}
	}()
	arena.MakeSlice[byte](s.Arena(), n, n)
	return true
}

func TestSafetyProcessBudgetRefusesTheNewest(t *testing.T) {
	limitProcess(t, 1<<20)
	p := newPool(t, Options{})
	var held []*Scope
	refused := 0
	for range 8 {
		s := p.Get()
		if take(s, 200_000) {
			held = append(held, s)
			continue
		}
		refused++
		p.Refuse(ProcessBytesMax)
		s.End()
	}
	if len(held) != 4 || refused != 4 {
		t.Errorf("%d scopes of 225,000 bytes fit into a megabyte, %d do not", len(held), refused)
	}
	for _, s := range held {
		if !take(s, 100) {
			t.Error("a scope that has its memory is harmed")
		}
		s.End()
	}
	if used := process.BytesUsed(); used != 0 {
		t.Errorf("%d bytes do not come back", used)
	}
	s := p.Get()
	if !take(s, 200_000) {
		t.Error("there is no room when all have ended")
	}
	s.End()
	if stats := p.Stats(); stats.ScopesRefused != 4 || stats.RefusedBy.ProcessBytesMax != 4 {
		t.Errorf("four refusals count as %+v", stats)
	}
	t.Logf("safety: budgets_refused=%d", refused)
}

func TestProcessBudgetHowScopesMayEnd(t *testing.T) {
	limitProcess(t, 0)
	p := newPool(t, Options{})
	for name, end := range map[string]func(*Scope){
		"End":     (*Scope).End,
		"Abandon": func(s *Scope) { s.Abandon() },
		"Retain": func(s *Scope) {
			s.Retain()
			s.End()
		},
		"Adopt": func(s *Scope) {
			a := s.NewArena()
			arena.MakeSlice[byte](a, 1000, 1000)
			s.Adopt(a)
			s.End()
		},
		"Adopt and Abandon": func(s *Scope) {
			a := s.NewArena()
			arena.MakeSlice[byte](a, 1000, 1000)
			s.Adopt(a)
			s.Abandon()
		},
		"Adopt too late": func(s *Scope) {
			a := s.NewArena()
			arena.MakeSlice[byte](a, 1000, 1000)
			s.End()
			s.Adopt(a)
		},
	} {
		s := p.Get()
		take(s, 10_000)
		if process.BytesUsed() < 10_000 {
			t.Errorf("%s: a scope is not counted", name)
		}
		end(s)
		if used := process.BytesUsed(); used != 0 {
			t.Errorf("%s: %d bytes do not come back", name, used)
		}
	}
	lost := p.Get()
	take(lost, 10_000)
	lost.OnLost()
	take(p.Get(), 0) // nothing was taken, so there is nothing to lose
	arena.MakeSlice[byte](p.Get().NewArena(), 1000, 1000)
	lost = nil
	collect(t)
}

func TestServiceOptionsSetTheProcessLimit(t *testing.T) {
	limitProcess(t, 0)
	if _, err := (ServiceOptions{ProcessBytesMax: -1}).NewGroup([]string{"/s/m"}); err == nil {
		t.Error("a negative limit is accepted")
	}
	if _, err := (ServiceOptions{ProcessBytesMax: 5 << 20}).NewGroup([]string{"/s/m"}); err != nil || process.BytesMax() != 5<<20 {
		t.Errorf("%v, the limit is %d", err, process.BytesMax())
	}
	if _, err := (ServiceOptions{}).NewGroup([]string{"/s/m"}); err != nil || process.BytesMax() != 5<<20 {
		t.Errorf("%v, the limit is %d", err, process.BytesMax())
	}
}

func TestDecodedBytesMax(t *testing.T) {
	for _, c := range []struct {
		options    Options
		wire, want int64
	}{
		{Options{}, 1000, 0},
		{Options{DecodedRatioMax: 10}, 1000, 1 << 20},
		{Options{DecodedRatioMax: 10, DecodedFloorBytes: 5000}, 1000, 10_000},
		{Options{DecodedRatioMax: 10, DecodedFloorBytes: 50_000}, 1000, 50_000},
		{Options{DecodedRatioMax: 1e300}, 1000, 1<<62 - 1},
	} {
		if got := c.options.DecodedBytesMax(c.wire); got != c.want {
			t.Errorf("%+v of %d bytes: %d, want %d", c.options, c.wire, got, c.want)
		}
	}
}
