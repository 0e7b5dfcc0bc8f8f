// Package soak drives a demo server with honest callers and, in some slices of time, with rude ones
// beside them: dear requests, such as are none, calls that are given up, connections that end. Each
// call may have some outcomes and no others, and honest callers get the right answers whatever the
// others do.
package soak

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/workloads"
)

// mix is what honest callers send, in turn: many small requests, some large ones.
var mix = []string{
	"ranking_8k", "tile", "ranking_8k", "ranking_8k", "vehicles", "ranking_8k", "ranking_200k",
	"ranking_8k", "ranking_8k", "vehicles",
}

const (
	comparedOneIn  = 50 // honest replies that are compared as a whole
	cutBytesMax    = 60_000
	exampleTextMax = 300
	examplesMax    = 5
)

// Order is one slice of time.
type Order struct {
	Seconds float64 `json:"seconds"`
	QPS     float64 `json:"qps"`  // of honest calls
	Rude    float64 `json:"rude"` // rude calls per second; 0 for none
}

// Report is what a slice saw.
type Report struct {
	Sent        int                        `json:"sent"`         // honest calls
	Errors      int                        `json:"errors"`       // of those: not the right answer
	LatenciesUs []int64                    `json:"latencies_us"` // of the others, from the time at which they were due
	Rude        map[string]map[Outcome]int `json:"rude"`         // by kind
	Unowed      int                        `json:"unowed"`       // rude calls with an outcome that they may not have
	Examples    []string                   `json:"examples"`     // of both sorts of errors
}

// Soak drives one server.
//
// Thread rule: one call of its methods at a time.
type Soak struct {
	framework Framework
	straight  load.Caller
	leave     func()
	cutter    *Cutter
	honest    []*load.Load // as mix
	requests  []int        // of each of them
	next      int
	rude      *rudeness
}

// New connects to the server and compares its answers to all honest requests with those computed here.
func New(framework Framework, port int, testdata string, seed uint64) (*Soak, error) {
	s := &Soak{framework: framework}
	var err error
	if s.straight, s.leave, err = framework.Dial(port); err != nil {
		return nil, err
	}
	loads, known := make(map[string]*load.Load), make(map[string]*workloads.Workload)
	s.rude = &rudeness{tooDeep: framework.TooDeep, dice: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range mix {
		if loads[name] == nil {
			w, err := workloads.Load(name, testdata)
			if err != nil {
				return nil, err
			}
			if loads[name], err = load.New(s.straight, w); err != nil {
				s.leave()
				return nil, err
			}
			known[name] = w
			s.rude.honest = append(s.rude.honest, w)
		}
		s.honest = append(s.honest, loads[name])
		s.requests = append(s.requests, len(known[name].Requests))
	}
	if s.cutter, err = NewCutter(port, cutBytesMax); err != nil {
		s.leave()
		return nil, err
	}
	return s, nil
}

// Close ends all connections.
func (s *Soak) Close() {
	s.leave()
	s.cutter.Close()
}

// Run does what is ordered.
func (s *Soak) Run(order Order) Report {
	r := &recorder{report: Report{LatenciesUs: []int64{}, Rude: make(map[string]map[Outcome]int), Examples: []string{}}}
	duration := time.Duration(order.Seconds * float64(time.Second))
	// Made before: making them takes longer than sending them.
	var calls []*rudeCall
	for range int(order.Rude * order.Seconds) {
		calls = append(calls, s.rude.next())
	}
	var both, running sync.WaitGroup
	start := time.Now()
	if len(calls) > 0 {
		both.Go(func() {
			load.Pace(start, order.Rude, duration, func(i int, _ time.Time) {
				if i < len(calls) {
					running.Go(func() { s.sendRude(calls[i], r) })
				}
			})
		})
	}
	both.Go(func() {
		load.Pace(start, order.QPS, duration, func(_ int, due time.Time) {
			turn := s.next
			s.next++
			running.Go(func() { s.sendHonest(turn, due, r) })
		})
	})
	both.Wait()
	running.Wait()
	return r.report
}

func (s *Soak) sendHonest(turn int, due time.Time, r *recorder) {
	at := turn % len(s.honest)
	l, request := s.honest[at], turn/len(s.honest)%s.requests[at]
	err := l.One(request)
	latency := time.Since(due)
	if err == nil && turn%comparedOneIn == 0 {
		err = l.Compared(request)
	}
	r.honest(latency, err)
}

func (s *Soak) sendRude(c *rudeCall, r *recorder) {
	err := c.send(s.straight, func() (load.Caller, func(), error) { return s.framework.Dial(s.cutter.Port()) })
	r.rude(c, s.framework.Outcome(err), err)
}

type recorder struct {
	mutex  sync.Mutex
	report Report
}

func (r *recorder) honest(latency time.Duration, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.report.Sent++
	if err != nil {
		r.report.Errors++
		r.example("an honest call", err)
		return
	}
	r.report.LatenciesUs = append(r.report.LatenciesUs, latency.Microseconds())
}

func (r *recorder) rude(c *rudeCall, outcome Outcome, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.report.Rude[c.kind] == nil {
		r.report.Rude[c.kind] = make(map[Outcome]int)
	}
	r.report.Rude[c.kind][outcome]++
	if !c.mayBe(outcome) {
		r.report.Unowed++
		r.example(fmt.Sprintf("%s, %d bytes to %s: %s instead of %v", c.kind, len(c.request), c.method, outcome, c.owed), err)
	}
}

func (r *recorder) example(what string, err error) {
	if len(r.report.Examples) < examplesMax {
		text := fmt.Sprintf("%s: %v", what, err)
		r.report.Examples = append(r.report.Examples, text[:min(len(text), exampleTextMax)])
	}
}
