// Package load drives one method of a demo server with requests that are encoded already.
package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harena-project/harena/bench/go/workloads"
)

const callTimeout = time.Minute // machines may stand still for long

// ErrReply is of replies that came, and are not what they should be.
var ErrReply = errors.New("a wrong reply")

// Caller sends a request to the method of that full name, and returns the reply, both as bytes. Any
// number of goroutines may call it at once.
type Caller func(ctx context.Context, method string, request []byte) ([]byte, error)

// Load drives one method of one server.
//
// Thread rule: one call of its methods at a time.
type Load struct {
	caller   Caller
	workload *workloads.Workload
	expected []int // bytes of each reply
	next     int
}

// Report is what one stretch of load saw. A latency counts from the moment at which the request was
// due, whether or not it could be sent then.
type Report struct {
	Requests     int     `json:"requests"`
	Errors       int     `json:"errors"`
	FirstError   string  `json:"first_error"`
	Seconds      float64 `json:"seconds"`
	QPS          float64 `json:"qps"`
	P50Us        float64 `json:"p50_us"`
	P90Us        float64 `json:"p90_us"`
	P99Us        float64 `json:"p99_us"`
	SendLagP99Us float64 `json:"send_lag_p99_us"`
}

// New compares the server's reply to each request with the answer computed here, and returns a load
// of that server.
func New(caller Caller, workload *workloads.Workload) (*Load, error) {
	l := &Load{caller: caller, workload: workload}
	for i, request := range workload.Requests {
		reply, err := l.call(i)
		if err != nil {
			return nil, err
		}
		size, err := sameAnswer(workload.Method, request, reply)
		if err != nil {
			return nil, fmt.Errorf("%s, request %d: %w", workload.Name, i, err)
		}
		l.expected = append(l.expected, size)
	}
	return l, nil
}

func (l *Load) call(request int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return l.caller(ctx, l.workload.MethodPath(), l.workload.Requests[request])
}

// One sends the workload's request of that number and checks the size of its reply, which does not
// depend on the order of its maps. Any goroutine may call it at any time.
func (l *Load) One(request int) error {
	_, err := l.one(request)
	return err
}

func (l *Load) one(request int) ([]byte, error) {
	reply, err := l.call(request)
	if err == nil && len(reply) != l.expected[request] {
		err = fmt.Errorf("%w: a reply of %d bytes, not %d", ErrReply, len(reply), l.expected[request])
	}
	return reply, err
}

// Compared is One, and compares the whole reply with the answer computed here.
func (l *Load) Compared(request int) error {
	reply, err := l.one(request)
	if err == nil {
		_, err = sameAnswer(l.workload.Method, l.workload.Requests[request], reply)
	}
	return err
}

func (l *Load) turn() int {
	request := l.next
	l.next = (l.next + 1) % len(l.workload.Requests)
	return request
}

// Closed sends one request after the other for the time, at least one.
func (l *Load) Closed(duration time.Duration) Report {
	r := newRecorder()
	for start := time.Now(); r.requests == 0 || time.Since(start) < duration; {
		due := time.Now()
		r.sent(0)
		r.done(due, l.One(l.turn()))
	}
	return r.report()
}

// Open sends requests on an absolute schedule, whatever the server does.
func (l *Load) Open(qps float64, duration time.Duration) Report {
	r := newRecorder()
	var calls sync.WaitGroup
	Pace(r.start, qps, duration, func(_ int, due time.Time) {
		request := l.turn()
		r.sent(time.Since(due))
		calls.Go(func() { r.done(due, l.One(request)) })
	})
	calls.Wait()
	return r.report()
}

// Pace calls at once or when it is due, by a schedule that begins at start: so often a second, for so
// long, at least once. A late call does not move those after it.
func Pace(start time.Time, qps float64, duration time.Duration, call func(i int, due time.Time)) {
	runtime.LockOSThread() // it sleeps in the kernel, more exactly than Go's timers do
	defer runtime.UnlockOSThread()
	// The kernel's default slack of 50 us would show in every latency.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for i := range max(1, int(qps*duration.Seconds())) {
		due := start.Add(time.Duration(float64(i) / qps * 1e9))
		sleepUntil(due)
		call(i, due)
	}
}

func sleepUntil(due time.Time) {
	for {
		left := time.Until(due)
		if left <= 0 {
			return
		}
		pause := unix.NsecToTimespec(left.Nanoseconds())
		_ = unix.Nanosleep(&pause, nil) // interrupted: once more
	}
}

// recorder collects what a stretch of load sees.
type recorder struct {
	start     time.Time
	mutex     sync.Mutex
	requests  int
	latencies []time.Duration
	lags      []time.Duration
	errors    int
	first     error
}

func newRecorder() *recorder { return &recorder{start: time.Now()} }

func (r *recorder) sent(lag time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.requests++
	r.lags = append(r.lags, lag)
}

func (r *recorder) done(due time.Time, err error) {
	latency := time.Since(due)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		r.errors++
		if r.first == nil {
			r.first = err
		}
		return
	}
	r.latencies = append(r.latencies, latency)
}

func (r *recorder) report() Report {
	seconds := time.Since(r.start).Seconds()
	out := Report{
		Requests: r.requests, Errors: r.errors, Seconds: seconds, QPS: float64(len(r.latencies)) / seconds,
		P50Us: percentile(r.latencies, 0.50), P90Us: percentile(r.latencies, 0.90),
		P99Us: percentile(r.latencies, 0.99), SendLagP99Us: percentile(r.lags, 0.99),
	}
	if r.first != nil {
		out.FirstError = r.first.Error()
	}
	return out
}

// percentile returns the nearest rank, in microseconds, and sorts the durations.
func percentile(durations []time.Duration, share float64) float64 {
	if len(durations) == 0 {
		return 0
	}
	slices.Sort(durations)
	rank := int(share*float64(len(durations))+0.999999) - 1
	return float64(durations[max(rank, 0)].Nanoseconds()) / 1000
}
