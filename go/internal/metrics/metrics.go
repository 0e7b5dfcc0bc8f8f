// Package metrics is what the exporters have in common: the list of Harena's metrics, with their values.
// docs/metrics.md is the same list for readers, in both languages.
package metrics

import (
	"math"
	"strconv"

	"github.com/harena-project/harena/go/scope"
)

// Kind says how a metric's values are to be read.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"   // only grows
	Gauge     Kind = "gauge"     // the value now
	Histogram Kind = "histogram" // counts by size, which only grow
)

// Metric is one entry of the list.
type Metric struct {
	Name   string // as Prometheus has it
	Kind   Kind
	Unit   string   // "bytes", "requests"
	Labels []string // names, in the order in which [Sample] has their values
	Help   string   // one sentence
}

// Sample is one value of a metric.
type Sample struct {
	*Metric
	LabelValues []string

	Value float64 // of counters and gauges
	// Of histograms: the counts, the most that each holds but for the last one, which has no bound, and
	// the sum of what was counted.
	Buckets []uint64
	Bounds  []float64
	Sum     float64
}

// Count returns how many there are in all buckets.
func (s Sample) Count() uint64 {
	var sum uint64
	for _, count := range s.Buckets {
		sum += count
	}
	return sum
}

// All returns the list.
func All() []*Metric {
	var all []*Metric
	for i := range ofProcess {
		all = append(all, &ofProcess[i].Metric)
	}
	for i := range ofMethod {
		all = append(all, &ofMethod[i].Metric)
	}
	return all
}

// Collect calls visit with each value there is now, one metric after the other.
//
// Thread rule: any goroutine.
func Collect(visit func(Sample)) {
	for i := range ofProcess {
		m := &ofProcess[i]
		visit(Sample{Metric: &m.Metric, Value: m.value()})
	}
	methods := servedMethods()
	for i := range ofMethod {
		m := &ofMethod[i]
		for _, method := range methods {
			m.collect(method.MethodStats, func(s Sample) {
				s.Metric = &m.Metric
				s.LabelValues = append([]string{method.framework, method.Name, method.server}, s.LabelValues...)
				visit(s)
			})
		}
	}
}

type servedMethod struct {
	framework, server string
	scope.MethodStats
}

// servedMethods numbers the servers that serve the same method, so that no two samples have the same
// labels.
func servedMethods() []servedMethod {
	var all []servedMethod
	type key struct{ framework, method string }
	servers := make(map[key]int)
	for _, served := range scope.AllServed() {
		for _, stats := range served.Methods() {
			k := key{served.Framework, stats.Name}
			servers[k]++
			all = append(all, servedMethod{served.Framework, strconv.Itoa(servers[k]), stats})
		}
	}
	return all
}

// limitOr returns a limit, of which zero means that there is none.
func limitOr(bytesMax int64) float64 {
	if bytesMax == 0 {
		return math.Inf(1)
	}
	return float64(bytesMax)
}
