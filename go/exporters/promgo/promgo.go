// Package promgo gives Harena's metrics to Prometheus:
//
//	prometheus.MustRegister(promgo.NewCollector())
//
// The collector asks every server of the process whenever it is scraped and keeps nothing itself.
// docs/metrics.md lists the metrics.
package promgo

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/harena-project/harena/go/internal/metrics"
)

type collector struct {
	descs map[string]*prometheus.Desc // by name
}

// NewCollector returns a collector of all of Harena's metrics, for any registry. One is enough for a
// process.
//
// Thread rule: any goroutine.
func NewCollector() prometheus.Collector {
	c := collector{make(map[string]*prometheus.Desc)}
	for _, m := range metrics.All() {
		c.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(values chan<- prometheus.Metric) {
	metrics.Collect(func(s metrics.Sample) {
		desc := c.descs[s.Name]
		switch s.Kind {
		case metrics.Histogram:
			values <- prometheus.MustNewConstHistogram(desc, s.Count(), s.Sum, cumulative(s), s.LabelValues...)
		case metrics.Counter:
			values <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, s.Value, s.LabelValues...)
		default:
			values <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.Value, s.LabelValues...)
		}
	})
}

// cumulative returns the counts as Prometheus wants them: of all that is within each bound.
func cumulative(s metrics.Sample) map[float64]uint64 {
	counts := make(map[float64]uint64)
	var within uint64
	for i, bound := range s.Bounds {
		within += s.Buckets[i]
		counts[bound] = within
	}
	return counts
}
