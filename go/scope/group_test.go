package scope

import (
	"strings"
	"testing"

	"github.com/harena-project/harena/go/arena"
)

func newGroup(t *testing.T) *Group {
	t.Helper()
	g, err := NewGroup([]string{"/s/A", "/s/B"}, Options{}, map[string]Options{"/s/B": {RequestBytesMax: 9}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGroupGivesMethodsTheirOwnOptions(t *testing.T) {
	methods := newGroup(t).Methods()
	if len(methods) != 2 || methods[0].Name != "/s/A" || methods[0].Options != (Options{}) ||
		methods[1].Name != "/s/B" || methods[1].Options.RequestBytesMax != 9 {
		t.Errorf("Methods() = %+v", methods)
	}
}

// Mode heap can be had at any time. A limit is not held there, and is there when mode codec is.
func TestModeHeapKeepsLimitsForLater(t *testing.T) {
	g := newGroup(t)
	if err := g.SetMode("", Heap); err != nil {
		t.Fatal(err)
	}
	for _, m := range g.Methods() {
		if m.Options.Mode != Heap {
			t.Errorf("%s has %+v", m.Name, m.Options)
		}
	}
	p := g.Pool("/s/B")
	s := p.Get()
	arena.MakeSlice[byte](s.Arena(), 1000, 1000)
	arena.MakeSlice[byte](s.NewArena(), 1000, 1000)
	if s.End(); s.Err() != nil {
		t.Errorf("mode heap holds a limit: %v", s.Err())
	}
	if err := g.SetMode("", Codec); err != nil || p.Options().RequestBytesMax != 9 {
		t.Errorf("%v, then method B has %+v", err, p.Options())
	}
	s = p.Get()
	defer s.End()
	if panicOf(func() { arena.MakeSlice[byte](s.Arena(), 1000, 1000) }) == nil {
		t.Error("mode codec does not hold the limit")
	}
}

func TestGroupChangesAllOrNothing(t *testing.T) {
	g := newGroup(t)
	if err := g.SetMode("/s/B", Heap); err != nil {
		t.Fatal(err)
	}
	if err := g.SetDepthMax("", 8); err == nil || !strings.HasPrefix(err.Error(), "/s/B: ") {
		t.Errorf("a limit for all, one in mode heap: %v", err)
	}
	if got := g.Pool("/s/A").Options().DepthMax; got != 0 {
		t.Errorf("a refused change left method A with DepthMax %d", got)
	}
	if err := g.SetDepthMax("/s/A", 8); err != nil {
		t.Error(err)
	}
	if got := g.Pool("/s/A").Options().DepthMax; got != 8 {
		t.Errorf("method A has DepthMax %d, want 8", got)
	}
}

func TestGroupsChangeAllOrNothing(t *testing.T) {
	one, other := newGroup(t), newGroup(t)
	set := func(mode Mode) func(*Options) { return func(o *Options) { o.Mode = mode } }
	refused, err := ChangeAll([]MethodChange{{one, "/s/A", set(Heap)}, {other, "/s/B", set(Heap + 1)}})
	if refused != 1 || err == nil || !strings.HasPrefix(err.Error(), "/s/B: ") {
		t.Errorf("a mode that there is not: %d, %v", refused, err)
	}
	if got := one.Pool("/s/A").Options().Mode; got != Codec {
		t.Errorf("a refused change left method A in mode %v", got)
	}

	// Each would do by itself, the second no longer after the first.
	limit := func(o *Options) { o.RequestBytesMax = 9 }
	refused, err = ChangeAll([]MethodChange{{other, "/s/A", limit}, {one, "/s/A", set(Heap)}, {one, "/s/A", limit}})
	if refused != 2 || err == nil {
		t.Errorf("a limit after heap: %d, %v", refused, err)
	}
	for _, g := range []*Group{one, other} {
		if got := g.Pool("/s/A").Options(); got != (Options{}) {
			t.Errorf("not taken back: %+v", got)
		}
	}
	if _, err := ChangeAll([]MethodChange{{one, "/s/A", set(Heap)}, {other, "/s/A", set(Heap)}}); err != nil {
		t.Error(err)
	}
	if one.Pool("/s/A").Options().Mode != Heap || other.Pool("/s/A").Options().Mode != Heap {
		t.Error("a change was not made")
	}
}

func TestGroupNamesTheMethodsItKnows(t *testing.T) {
	const want = `no method "/s/C"; known are /s/A, /s/B`
	if err := newGroup(t).SetRequestBytesMax("/s/C", 1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("SetRequestBytesMax of an unknown method: %v", err)
	}
	_, err := NewGroup([]string{"/s/A", "/s/B"}, Options{}, map[string]Options{"/s/C": {}})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("NewGroup with an unknown method: %v", err)
	}
}
