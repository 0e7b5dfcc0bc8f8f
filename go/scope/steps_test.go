package scope

import (
	"testing"
	"time"
)

func TestStepsOfOneScopeInManyAreTimed(t *testing.T) {
	p := newPool(t, Options{})
	const scopes = 64 * 200
	for range scopes {
		s := p.Get()
		s.StartDecoding(10).Stop()
		s.StartEncoding().Stop()
		s.End()
	}
	stats := p.Stats()
	if stats.WireBytes != 10*scopes || !stats.WireBytesKnown() {
		t.Errorf("%d bytes of the wire, want %d", stats.WireBytes, 10*scopes)
	}
	for name, step := range map[string]StepTimes{"decoding": stats.Decoding, "encoding": stats.Encoding} {
		if timed := step.Durations.Count(); timed < 100 || timed > 400 || step.Sum < time.Duration(timed) {
			t.Errorf("%s of %d scopes: %d timed, %v", name, scopes, timed, step.Sum)
		}
	}
}

func TestTimingIsNotInStep(t *testing.T) {
	for _, period := range []uint64{2, 8, 64, 100} {
		timed := 0
		for i := range uint64(64_000) {
			if isTimed(i * period) {
				timed++
			}
		}
		if timed < 500 || timed > 2000 {
			t.Errorf("of every %dth scope %d of 64000 are timed", period, timed)
		}
	}
}

func TestWhatNobodyCountedIsNotKnown(t *testing.T) {
	p := newPool(t, Options{})
	if !p.Stats().WireBytesKnown() {
		t.Error("no request has no bytes, which is known")
	}
	p.Get().End()
	if stats := p.Stats(); stats.WireBytesKnown() || stats.Decoding.Durations.Count() != 0 {
		t.Errorf("a request that nobody decoded: %+v", stats)
	}
	p.CountUncovered()
	if got := p.Stats().Uncovered; got != 1 {
		t.Errorf("%d uncovered, want 1", got)
	}
}
