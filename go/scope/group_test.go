package scope

import (
	"strings"
	"testing"
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

func TestGroupChangesAllOrNothing(t *testing.T) {
	g := newGroup(t)
	if err := g.SetMode("", Heap); err == nil || !strings.HasPrefix(err.Error(), "/s/B: ") {
		t.Errorf("SetMode of all, one with a limit: %v", err)
	}
	if got := g.Pool("/s/A").Options().Mode; got != Codec {
		t.Errorf("a refused change left method A in mode %v", got)
	}
	if err := g.SetMode("/s/A", Heap); err != nil {
		t.Error(err)
	}
	if got := g.Pool("/s/A").Options().Mode; got != Heap {
		t.Errorf("method A is in mode %v, want heap", got)
	}
}

func TestGroupsChangeAllOrNothing(t *testing.T) {
	one, other := newGroup(t), newGroup(t)
	set := func(mode Mode) func(*Options) { return func(o *Options) { o.Mode = mode } }
	refused, err := ChangeAll([]MethodChange{{one, "/s/A", set(Heap)}, {other, "/s/B", set(Heap)}})
	if refused != 1 || err == nil || !strings.HasPrefix(err.Error(), "/s/B: ") {
		t.Errorf("a method with a limit, to heap: %d, %v", refused, err)
	}
	if got := one.Pool("/s/A").Options().Mode; got != Codec {
		t.Errorf("a refused change left method A in mode %v", got)
	}

	// Each would do by itself, the second no longer after the first.
	limit := func(o *Options) { o.RequestBytesMax = 9 }
	refused, err = ChangeAll([]MethodChange{{other, "/s/A", set(Heap)}, {one, "/s/A", limit}, {one, "/s/A", set(Heap)}})
	if refused != 2 || err == nil {
		t.Errorf("heap after a limit: %d, %v", refused, err)
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
