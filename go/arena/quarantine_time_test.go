// The race detector would report the stale write itself, which is the point of it.

//go:build !harena_debug && !race

package arena

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSafetyStaleWriteIsReportedAfterItsTime(t *testing.T) {
	p, found := sampledPool(t, PoolOptions{QuarantineFor: 20 * time.Millisecond, Name: "/feed.Feed/Rank"})
	a := p.Get()
	NewOf[person](a)
	second := NewOf[person](a)
	m := MakeMap[string, int](a)
	a.Free()
	second.Age = 7
	m["late"] = 1
	for deadline := time.Now().Add(10 * time.Second); len(found.list()) < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	got := found.list()
	if len(got) != 2 {
		t.Fatalf("%d reports, want 2", len(got))
	}
	w := got[0]
	if w.Type != reflect.TypeFor[person]() || w.Field != ".Age" || w.Index != 1 || w.Pool != "/feed.Feed/Rank" {
		t.Errorf("%+v", w)
	}
	if text := w.Error(); !strings.Contains(text, "arena.person.Age of /feed.Feed/Rank") ||
		!strings.Contains(text, "TestSafetyStaleWriteIsReportedAfterItsTime") {
		t.Error(text)
	}
	if got[1].Type != reflect.TypeFor[map[string]int]() {
		t.Errorf("%+v", got[1])
	}
	t.Logf("safety: detectors_fired=%d", len(got))
	if stats := p.Stats(); stats.StaleWrites != 2 || stats.ArenasQuarantined != 0 {
		t.Errorf("%+v", stats)
	}
}
