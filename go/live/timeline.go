package live

import (
	"slices"
	"sync"
	"time"

	"github.com/harena-project/harena/go/scope"
)

const (
	sampleInterval = time.Second
	samplesMax     = 900 // 15 minutes
)

// sample is one moment of the timeline.
type sample struct {
	AtMS             int64   `json:"at_ms"` // since 1970
	RequestsPerS     float64 `json:"requests_per_s"`
	RefusedPerS      float64 `json:"refused_per_s"`
	ProcessBytesUsed int64   `json:"process_bytes_used"`
	ArenaBytesKept   int64   `json:"arena_bytes_kept"`
}

// timeline is the answer to GET /harena/api/timeline.
type timeline struct {
	IntervalMS int64    `json:"interval_ms"`
	Samples    []sample `json:"samples"`
}

// sampler takes a sample each second and keeps the last.
//
// Thread rule: any goroutine; tick is called by one.
type sampler struct {
	mutex   sync.Mutex
	samples []sample

	// Of the one that ticks.
	last              time.Time
	requests, refused uint64
}

// tick takes a sample. Rates need two.
func (s *sampler) tick(now time.Time) {
	var requests, refused uint64
	taken := sample{AtMS: now.UnixMilli(), ProcessBytesUsed: scope.ProcessBudget().BytesUsed()}
	for _, served := range scope.AllServed() {
		for _, m := range served.Methods() {
			requests += m.ScopesStarted
			refused += m.ScopesRefused
			taken.ArenaBytesKept += m.Arenas.BytesKept
		}
	}
	if !s.last.IsZero() {
		seconds := now.Sub(s.last).Seconds()
		taken.RequestsPerS = rate(s.requests, requests, seconds)
		taken.RefusedPerS = rate(s.refused, refused, seconds)
	}
	s.last, s.requests, s.refused = now, requests, refused

	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.samples) == samplesMax {
		s.samples = slices.Delete(s.samples, 0, 1)
	}
	s.samples = append(s.samples, taken)
}

// rate is zero where a server has ended and taken its counts along.
func rate(before, after uint64, seconds float64) float64 {
	if after < before || seconds <= 0 {
		return 0
	}
	return float64(after-before) / seconds
}

// since returns the samples after a moment, in milliseconds since 1970.
func (s *sampler) since(afterMS int64) timeline {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	first := slices.IndexFunc(s.samples, func(one sample) bool { return one.AtMS > afterMS })
	t := timeline{IntervalMS: sampleInterval.Milliseconds(), Samples: []sample{}}
	if first >= 0 {
		t.Samples = append(t.Samples, s.samples[first:]...)
	}
	return t
}
