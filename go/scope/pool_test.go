package scope

import (
	"math"
	"math/rand"
	"sync"
	"testing"

	"github.com/harena-project/harena/go/arena"
)

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{Mode: 9},
		{RequestBytesMax: -1},
		{DepthMax: -1},
		{DepthMax: 101},
		{DecodedRatioMax: 0.5},
		{DecodedRatioMax: math.NaN()},
		{DecodedFloorBytes: -1},
		{Mode: Heap, DecodedRatioMax: 10},
		{Mode: Heap, RequestBytesMax: 1},
		{Mode: Heap, DepthMax: 1},
	} {
		if _, err := NewPool(o); err == nil {
			t.Errorf("NewPool(%+v) finds nothing wrong", o)
		}
	}
}

func TestScopesKeepTheOptionsTheyBeganWith(t *testing.T) {
	p := newPool(t, Options{RequestBytesMax: 1 << 20})
	before := p.Get()
	if err := p.SetRequestBytesMax(0); err != nil {
		t.Fatal(err)
	}
	if err := p.SetMode(Heap); err != nil {
		t.Fatal(err)
	}
	after := p.Get()
	if before.Mode() != Codec || before.Options().RequestBytesMax != 1<<20 {
		t.Errorf("the older scope has changed: %+v", before.Options())
	}
	if after.Mode() != Heap {
		t.Errorf("the newer scope has mode %v, want heap", after.Mode())
	}
	before.End()
	after.End()
}

func TestRefusedChangeChangesNothing(t *testing.T) {
	p := newPool(t, Options{Mode: Heap})
	if p.SetRequestBytesMax(5) == nil || p.SetDecodedRatioMax(5) == nil || p.SetDepthMax(5) == nil {
		t.Error("mode heap accepts a limit")
	}
	for _, depth := range []int{-1, 101} {
		if p.SetDepthMax(depth) == nil {
			t.Errorf("a depth of %d is accepted", depth)
		}
	}
	if got := p.Options(); got != (Options{Mode: Heap}) {
		t.Errorf("options after refused changes: %+v", got)
	}
}

func TestModeText(t *testing.T) {
	for _, m := range []Mode{Codec, Heap} {
		text, err := m.MarshalText()
		var back Mode
		if err != nil || back.UnmarshalText(text) != nil || back != m {
			t.Errorf("%v does not survive MarshalText and UnmarshalText", m)
		}
	}
	if _, err := ParseMode("pages"); err == nil {
		t.Error("ParseMode knows pages")
	}
	if _, err := Mode(9).MarshalText(); err == nil {
		t.Error("Mode(9) has a text")
	}
}

// Scopes begin and end on many goroutines while the settings change; each value must stay its
// owner's, and in the end all scopes are accounted for.
func TestPoolUnderStress(t *testing.T) {
	p := newPool(t, Options{})
	const workers, rounds = 8, 2000
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewSource(int64(w)))
			for i := range rounds {
				s := p.Get()
				mark := w*rounds + i
				values := make([]*int, random.Intn(50))
				for j := range values {
					values[j] = arena.NewOf[int](s.Arena())
					if *values[j] != 0 {
						t.Errorf("a new value reads %d", *values[j])
					}
					*values[j] = mark
				}
				for _, v := range values {
					if *v != mark {
						t.Errorf("a value of %d reads %d", mark, *v)
					}
				}
				switch random.Intn(10) {
				case 0:
					s.Retain()
					s.End()
				case 1:
					s.Abandon()
				case 2:
					mode := []Mode{Heap, Codec}[random.Intn(2)]
					if err := p.SetMode(mode); err != nil {
						t.Error(err)
					}
					s.End()
				default:
					s.End()
				}
			}
		})
	}
	group.Wait()
	if stats := p.Stats(); stats.ScopesStarted != workers*rounds || stats.ScopesAlive() != 0 {
		t.Errorf("in the end: %+v", stats)
	}
}

// Every arena that took memory is freed or counted as lost, whatever became of its scope.
func TestAbandonedArenasAreCounted(t *testing.T) {
	pool, err := NewPool(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		pool.Get().End()
		s := pool.Get()
		arena.NewOf[int](s.Arena())
		s.Abandon()
		pool.Get().Abandon()
	}
	if got := pool.Stats().Arenas; got.ArenasOut != 0 || got.Abandoned != 6 {
		t.Errorf("%d arenas out, %d abandoned; want 0 and 6", got.ArenasOut, got.Abandoned)
	}
}
