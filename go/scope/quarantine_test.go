package scope

import (
	"testing"

	"github.com/harena-project/harena/go/arena"
)

func TestSafetySampledScopesAreNotReusedAndNamed(t *testing.T) {
	if arena.Debug {
		t.Skip("in debug builds no memory is reused, and the sampling is off")
	}
	var found []*arena.StaleWrite
	arena.OnStaleWrite(func(w *arena.StaleWrite) { found = append(found, w) })
	defer arena.OnStaleWrite(nil)
	g, err := NewGroup([]string{"/feed.Feed/Rank"}, Options{QuarantineOneIn: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := g.Pool("/feed.Feed/Rank")
	seen := map[*int64]bool{}
	var last *int64
	for range 20 {
		s := p.Get()
		last = arena.NewOf[int64](s.Arena())
		if seen[last] {
			t.Fatal("reused")
		}
		seen[last] = true
		s.End()
		if uint64(*last) != 0xDBDBDBDBDBDBDBDB {
			t.Fatalf("a stale reader sees %x", *last)
		}
	}
	*last = 1
	if got := p.Stats().Arenas; got.Sampled != 20 || got.ArenasQuarantined != 20 {
		t.Errorf("%+v", got)
	}
	p.arenas.Close()
	if len(found) != 1 || found[0].Pool != "/feed.Feed/Rank" {
		t.Errorf("%v", found)
	}
	t.Logf("safety: detectors_fired=%d", len(found))
}

func TestRetainedScopesAreNotSampled(t *testing.T) {
	p, err := NewPool(Options{QuarantineOneIn: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Get()
	n := arena.NewOf[int64](s.Arena())
	*n = 7
	s.Retain()
	s.End()
	if *n != 7 {
		t.Errorf("%x", *n)
	}
}

func TestQuarantineOneInIsValidated(t *testing.T) {
	if _, err := NewPool(Options{QuarantineOneIn: -1}); err == nil {
		t.Error("want an error")
	}
	o := ServiceOptions{QuarantineOneIn: 9, Methods: map[string]MethodOptions{"/own": {QuarantineOneIn: 4}}}
	if got := o.Method("/own").Scope().QuarantineOneIn; got != 4 {
		t.Error(got)
	}
	if got := o.Method("/other").Scope().QuarantineOneIn; got != 9 {
		t.Error(got)
	}
}
