// Package otelgo gives Harena's metrics to OpenTelemetry, as a producer of any metric reader:
//
//	metric.NewPeriodicReader(exporter, metric.WithProducer(otelgo.NewProducer()))
//
// The producer asks every server of the process whenever the reader collects and keeps nothing itself. Its
// metrics are those that docs/metrics.md lists, named as OpenTelemetry names them: harena_requests_total is
// harena.requests, and harena_scope_used_bytes is harena.scope_used with the unit By.
package otelgo

import (
	"context"
	"math"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/harena-project/harena/go/internal/metrics"
)

// ScopeName is the instrumentation scope of the metrics.
const ScopeName = "github.com/harena-project/harena/go"

type producer struct{ started time.Time }

// NewProducer returns a producer of all of Harena's metrics. One is enough for a process. Counts are
// since the servers were made; the data says since the producer was.
//
// Thread rule: any goroutine.
func NewProducer() metric.Producer { return producer{time.Now()} }

// Produce implements metric.Producer.
func (p producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	out := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: ScopeName}}
	var current *metrics.Metric
	var samples []metrics.Sample
	flush := func() {
		if current != nil {
			out.Metrics = append(out.Metrics, p.metric(current, samples, now))
		}
		samples = nil
	}
	metrics.Collect(func(s metrics.Sample) {
		if math.IsInf(s.Value, 0) {
			return // no limit; exporters that write JSON could not say so
		}
		if s.Metric != current {
			flush()
			current = s.Metric
		}
		samples = append(samples, s)
	})
	flush()
	return []metricdata.ScopeMetrics{out}, nil
}

func (p producer) metric(m *metrics.Metric, samples []metrics.Sample, now time.Time) metricdata.Metrics {
	out := metricdata.Metrics{Name: nameOf(m), Description: m.Help, Unit: unitOf(m)}
	if m.Kind == metrics.Histogram {
		histogram := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
		for _, s := range samples {
			histogram.DataPoints = append(histogram.DataPoints, p.histogramPoint(s, now))
		}
		out.Data = histogram
		return out
	}
	var points []metricdata.DataPoint[float64]
	for _, s := range samples {
		points = append(points, metricdata.DataPoint[float64]{
			Attributes: attributesOf(s), StartTime: p.started, Time: now, Value: s.Value,
		})
	}
	if m.Kind == metrics.Counter {
		out.Data = metricdata.Sum[float64]{
			DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true,
		}
		return out
	}
	out.Data = metricdata.Gauge[float64]{DataPoints: points}
	return out
}

func (p producer) histogramPoint(s metrics.Sample, now time.Time) metricdata.HistogramDataPoint[float64] {
	return metricdata.HistogramDataPoint[float64]{
		Attributes: attributesOf(s), StartTime: p.started, Time: now,
		Count: s.Count(), Sum: s.Sum, BucketCounts: s.Buckets, Bounds: s.Bounds,
	}
}

func attributesOf(s metrics.Sample) attribute.Set {
	var attributes []attribute.KeyValue
	for i, name := range s.Labels {
		attributes = append(attributes, attribute.String(name, s.LabelValues[i]))
	}
	return attribute.NewSet(attributes...)
}

// nameOf drops what Prometheus writes into names and OpenTelemetry says otherwise.
func nameOf(m *metrics.Metric) string {
	name := strings.TrimPrefix(m.Name, "harena_")
	name = strings.TrimSuffix(name, "_total")
	if m.Unit == "bytes" || m.Unit == "seconds" {
		name = strings.TrimSuffix(name, "_"+m.Unit)
	}
	return "harena." + name
}

// unitOf returns the unit as UCUM has it.
func unitOf(m *metrics.Metric) string {
	switch m.Unit {
	case "":
		return "1"
	case "bytes":
		return "By"
	case "seconds":
		return "s"
	}
	return "{" + strings.TrimSuffix(m.Unit, "s") + "}"
}
