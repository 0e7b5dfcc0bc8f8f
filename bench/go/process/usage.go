package process

import (
	"runtime"
	"runtime/metrics"
	"syscall"
)

// Usage is what the process has used since it started.
type Usage struct {
	CPUSeconds     float64 `json:"cpu_seconds"` // user and system, all threads, the collector's included
	GCCPUSeconds   float64 `json:"gc_cpu_seconds"`
	GCPauseSeconds float64 `json:"gc_pause_seconds"` // an estimate: the middle of each bucket
	GCCycles       uint64  `json:"gc_cycles"`
	Allocations    uint64  `json:"allocations"`
	Frees          uint64  `json:"frees"`
	Bytes          uint64  `json:"bytes"`
	RSSPeakBytes   uint64  `json:"rss_peak_bytes"`
}

const (
	cycles = iota
	gcCPU
	pauses
)

// Reader reads Usage.
//
// Thread rule: one goroutine at a time.
type Reader struct {
	heap    runtime.MemStats
	samples [3]metrics.Sample
}

// NewReader returns a reader.
func NewReader() *Reader {
	r := &Reader{}
	for i, name := range [...]string{
		cycles: "/gc/cycles/total:gc-cycles",
		gcCPU:  "/cpu/classes/gc/total:cpu-seconds",
		pauses: "/sched/pauses/total/gc:seconds",
	} {
		r.samples[i].Name = name
	}
	r.Usage() // makes the memory that later reads use again, so that they are not counted themselves
	return r
}

// Heap returns allocations, frees and bytes, all exact: runtime/metrics has them without stopping the
// world, but late by what each processor has not reported yet. Reading makes no garbage.
func (r *Reader) Heap() (allocated, freed, size uint64) {
	runtime.ReadMemStats(&r.heap)
	return r.heap.Mallocs, r.heap.Frees, r.heap.TotalAlloc
}

// Usage returns everything.
func (r *Reader) Usage() Usage {
	var rusage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &rusage) // cannot fail for oneself
	var u Usage
	u.Allocations, u.Frees, u.Bytes = r.Heap()
	metrics.Read(r.samples[:])
	u.GCCycles = r.samples[cycles].Value.Uint64()
	u.GCCPUSeconds = r.samples[gcCPU].Value.Float64()
	u.GCPauseSeconds = total(r.samples[pauses].Value.Float64Histogram())
	u.CPUSeconds = seconds(rusage.Utime) + seconds(rusage.Stime)
	u.RSSPeakBytes = uint64(rusage.Maxrss) * 1024
	return u
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)*1e-6 }

func total(h *metrics.Float64Histogram) float64 {
	sum := 0.0
	for i, count := range h.Counts {
		if count == 0 {
			continue
		}
		low, high := h.Buckets[i], h.Buckets[i+1]
		middle := (low + high) / 2
		switch {
		case i == 0: // its lower end is minus infinity
			middle = high
		case i == len(h.Counts)-1:
			middle = low
		}
		sum += middle * float64(count)
	}
	return sum
}
