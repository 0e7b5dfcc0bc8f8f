package cells

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/harena-project/harena/bench/go/process"
)

// Result is what one process measured of one cell. Times are of the whole process, with the garbage
// collector's threads.
type Result struct {
	Group string `json:"group"`
	Row   string `json:"row"`
	Unit  string `json:"unit"`
	Ops   int    `json:"ops"`
	Units int    `json:"units"` // in one operation

	CPUNsPerUnit   float64 `json:"cpu_ns_per_unit"`
	WallNsPerUnit  float64 `json:"wall_ns_per_unit"` // in parallel cells, of all goroutines together
	GCCPUNsPerUnit float64 `json:"gc_cpu_ns_per_unit"`
	AllocsPerOp    float64 `json:"allocs_per_op"`
	BytesPerOp     float64 `json:"bytes_per_op"`
	GCsPer1000Ops  float64 `json:"gcs_per_1000_ops"`
	RSSPeakBytes   uint64  `json:"rss_peak_bytes"`
}

// Measure measures a cell for about the given time, after a fifth of it to warm up. Cells with a count
// of operations of their own do those instead, without a warm-up.
func Measure(c *Cell, duration time.Duration) (Result, error) {
	if c.Missing != "" {
		return Result{}, fmt.Errorf("%s cannot be measured: %s", c.Name(), c.Missing)
	}
	bodies := make([]Body, 1)
	if c.Parallel {
		bodies = make([]Body, runtime.GOMAXPROCS(0))
	}
	for i := range bodies {
		var err error
		if bodies[i], err = c.Make(); err != nil {
			return Result{}, fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	reader := process.NewReader()
	if c.Ops == 0 {
		together(bodies, func(b Body) int { return runFor(b, duration/5) })
		runtime.GC()
	}
	before, start := reader.Usage(), time.Now()
	ops := together(bodies, func(b Body) int {
		if c.Ops == 0 {
			return runFor(b, duration)
		}
		for range c.Ops {
			b.Op()
		}
		return c.Ops
	})
	for _, b := range bodies {
		if b.End != nil {
			b.End()
		}
	}
	wall, after := time.Since(start), reader.Usage()

	units := float64(ops) * float64(c.Units)
	perOp := func(n uint64) float64 { return float64(n) / float64(ops) }
	return Result{
		Group: c.Group, Row: c.Row, Unit: c.Unit, Ops: ops, Units: c.Units,
		CPUNsPerUnit:   (after.CPUSeconds - before.CPUSeconds) * 1e9 / units,
		WallNsPerUnit:  float64(wall.Nanoseconds()) / units,
		GCCPUNsPerUnit: (after.GCCPUSeconds - before.GCCPUSeconds) * 1e9 / units,
		AllocsPerOp:    perOp(after.Allocations - before.Allocations),
		BytesPerOp:     perOp(after.Bytes - before.Bytes),
		GCsPer1000Ops:  perOp(after.GCCycles-before.GCCycles) * 1000,
		RSSPeakBytes:   after.RSSPeakBytes,
	}, nil
}

// together runs the bodies at the same time and adds up what run returns.
func together(bodies []Body, run func(Body) int) int {
	counts := make([]int, len(bodies))
	var group sync.WaitGroup
	for i := range bodies[1:] {
		group.Go(func() { counts[i+1] = run(bodies[i+1]) })
	}
	counts[0] = run(bodies[0])
	group.Wait()
	total := 0
	for _, count := range counts {
		total += count
	}
	return total
}

// batchTime is about how often the clock is read.
const batchTime = time.Millisecond

// runFor does operations for about the time, and says how many.
func runFor(b Body, duration time.Duration) int {
	start := time.Now()
	ops, batch := 0, 1
	for {
		batchStart := time.Now()
		for range batch {
			b.Op()
		}
		ops += batch
		now := time.Now()
		if now.Sub(start) >= duration {
			return ops
		}
		if now.Sub(batchStart) < batchTime/2 {
			batch *= 2
		}
	}
}
