package scope

import (
	"sync/atomic"
	"time"
)

// timedOneIn is how many scopes there are for one whose steps are timed, at random.
const timedOneIn = 64

// isTimed says whether the scope of that number is one of them. Numbers are spread evenly, so that
// traffic with a rhythm of its own is timed as well as any other.
func isTimed(number uint64) bool {
	return number*0x9e3779b97f4a7c15>>32%timedOneIn == 0
}

// StepTimes says how long a step of the timed scopes took. Counts since the start.
type StepTimes struct {
	Durations DurationHistogram
	Sum       time.Duration
}

type stepTimes struct {
	durations bytesHistogram // in nanoseconds
	sum       atomic.Int64
}

func (t *stepTimes) load() StepTimes {
	return StepTimes{DurationHistogram(t.durations.load()), time.Duration(t.sum.Load())}
}

// StepTimer is what Scope.StartDecoding and Scope.StartEncoding return.
type StepTimer struct {
	times *stepTimes
	start time.Time
}

// Stop counts the time since the start, if the scope is one that is timed.
func (t StepTimer) Stop() {
	if t.times != nil {
		nanos := max(time.Since(t.start), 1).Nanoseconds()
		t.times.durations.add(nanos)
		t.times.sum.Add(nanos)
	}
}

// StartDecoding counts bytes of the wire that are going to be decoded for the scope's request, and times
// that in one scope of 64. Adapters call it.
func (s *Scope) StartDecoding(wireBytes int) StepTimer {
	s.pool.wireBytes.Add(int64(wireBytes))
	return s.startStep(&s.pool.decoding)
}

// StartEncoding times how long the request's answer is encoded, likewise.
func (s *Scope) StartEncoding() StepTimer { return s.startStep(&s.pool.encoding) }

func (s *Scope) startStep(times *stepTimes) StepTimer {
	if !s.timed {
		return StepTimer{}
	}
	return StepTimer{times, time.Now()}
}

// CountUncovered counts a message in mode [Codec] that was decoded elsewhere, so that it was on the heap.
// Adapters call it.
func (p *Pool) CountUncovered() { p.uncovered.Add(1) }
