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
