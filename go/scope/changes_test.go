package scope

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestChangeAsIsToldBeforeAndAfter(t *testing.T) {
	var steps []string
	stop := OnChange(func(who string) { steps = append(steps, "told:"+who) })
	ChangeAs("somebody", func() { steps = append(steps, "change") })
	if want := []string{"told:", "change", "told:somebody"}; !slices.Equal(steps, want) {
		t.Errorf("got %q; want %q", steps, want)
	}
	stop()
	stop() // again, for nothing
	ChangeAs("somebody", func() { steps = append(steps, "alone") })
	if len(steps) != 4 || steps[3] != "alone" {
		t.Errorf("got %q after stop", steps)
	}
}

// Listeners come and go while others change; each sees whole changes of one at a time.
func TestAListenerSeesOneChangeAtATime(t *testing.T) {
	value := 0
	var ended atomic.Bool
	var changing sync.WaitGroup
	steps := map[string]int{"a": 1, "b": 2}
	for who, step := range steps {
		changing.Go(func() {
			for !ended.Load() {
				ChangeAs(who, func() { value += step })
				runtime.Gosched()
			}
		})
	}
	for range 100 {
		before := 0
		var seen atomic.Int64
		stop := OnChange(func(who string) {
			if who == "" {
				before = value
				return
			}
			if value-before != steps[who] {
				t.Errorf("%s changed by %d; want %d", who, value-before, steps[who])
			}
			seen.Add(1)
		})
		for seen.Load() == 0 {
			runtime.Gosched()
		}
		stop()
	}
	ended.Store(true)
	changing.Wait()
}
