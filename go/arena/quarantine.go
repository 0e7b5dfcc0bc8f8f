package arena

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"sync"
	"time"
	"unsafe"
)

const (
	quarantineBytesMaxDefault = 16 << 20
	quarantineForDefault      = 10 * time.Second
)

// quarantine is the memory of sampled arenas, oldest first. It is never handed out again: it is
// poisoned when it comes, looked at when its time is over, and then left to the garbage collector.
type quarantine struct {
	mutex  sync.Mutex
	held   []*sample
	bytes  uintptr
	armed  bool // a timer runs
	counts quarantineCounts
}

type quarantineCounts struct {
	sampled, staleWrites uint64
}

// sample is one arena's memory in quarantine.
type sample struct {
	chunks []quarantined
	maps   []quarantinedMap
	bytes  uintptr
	since  time.Time
	freed  []uintptr
}

func (s *sample) add(t *Type, ptr unsafe.Pointer, bytes uintptr) {
	s.chunks = append(s.chunks, newQuarantined(t, ptr, bytes, s.freed))
	s.bytes += bytes
}

func (s *sample) addMap(m reflect.Value) {
	s.maps = append(s.maps, quarantinedMap{value: m, reset: s.freed})
	s.bytes += mapBytes
}

// isSampled decides with 32 random bits. In debug builds all memory is in quarantine anyway.
func (p *Pool) isSampled(st *state, random uint32) bool {
	if oneIn := p.options.QuarantineOneIn; Debug || oneIn == 0 || uint64(random) >= (math.MaxUint32+1)/uint64(oneIn) {
		return false
	}
	return !st.retain && st.bytesHeld <= p.quarantineBytesMax() && !p.closed.Load()
}

// enter puts the memory of an arena into quarantine; nothing of it is kept for others. It returns the
// bytes that the arena used.
func (p *Pool) enter(st *state) (used int64) {
	made := &sample{since: time.Now(), freed: callers()}
	st.sample = made
	st.reset()
	p.quarantine.mutex.Lock()
	q := &p.quarantine
	q.held = append(q.held, made)
	q.bytes += made.bytes
	q.counts.sampled++
	leaving := 0
	for bytes := q.bytes; bytes > p.quarantineBytesMax(); leaving++ {
		bytes -= q.held[leaving].bytes
	}
	left := q.take(leaving)
	if !q.armed && len(q.held) > 0 {
		q.armed = true
		time.AfterFunc(p.quarantineFor(), p.leave)
	}
	q.mutex.Unlock()
	p.check(left)
	return st.usedPeak
}

// leave lets go of what has been held for its time.
func (p *Pool) leave() {
	q := &p.quarantine
	q.mutex.Lock()
	leaving := 0
	for leaving < len(q.held) && time.Since(q.held[leaving].since) >= p.quarantineFor() {
		leaving++
	}
	left := q.take(leaving)
	if q.armed = len(q.held) > 0; q.armed {
		time.AfterFunc(max(p.quarantineFor()-time.Since(q.held[0].since), time.Millisecond), p.leave)
	}
	q.mutex.Unlock()
	p.check(left)
}

// drainQuarantine lets go of everything.
func (p *Pool) drainQuarantine() {
	q := &p.quarantine
	q.mutex.Lock()
	left := q.take(len(q.held))
	q.mutex.Unlock()
	p.check(left)
}

// take removes the n oldest. REQUIRES: the mutex is held.
func (q *quarantine) take(n int) []*sample {
	left := append([]*sample(nil), q.held[:n]...)
	rest := copy(q.held, q.held[n:])
	clear(q.held[rest:])
	q.held = q.held[:rest]
	for _, s := range left {
		q.bytes -= s.bytes
	}
	return left
}

// check looks for stale writes. Without the mutex: a large arena takes a while, and a hook may do
// anything.
func (p *Pool) check(left []*sample) {
	report := func(w *StaleWrite) {
		p.quarantine.mutex.Lock()
		p.quarantine.counts.staleWrites++
		p.quarantine.mutex.Unlock()
		w.Pool = p.options.Name
		if hook := staleWriteHook.Load(); hook != nil {
			(*hook)(w)
			return
		}
		// Not a panic: nobody else has this memory, and the process serves others.
		fmt.Fprintln(os.Stderr, w.Error())
	}
	for _, s := range left {
		for i := range s.chunks {
			s.chunks[i].check(report)
		}
		for i := range s.maps {
			s.maps[i].check(report)
		}
	}
}

func (p *Pool) quarantineBytesMax() uintptr {
	if p.options.QuarantineBytesMax > 0 {
		return uintptr(p.options.QuarantineBytesMax)
	}
	return quarantineBytesMaxDefault
}

func (p *Pool) quarantineFor() time.Duration {
	if p.options.QuarantineFor > 0 {
		return p.options.QuarantineFor
	}
	return quarantineForDefault
}
