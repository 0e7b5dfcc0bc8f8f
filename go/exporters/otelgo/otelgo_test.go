package otelgo

import (
	"context"
	"runtime"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/internal/metrics"
	"github.com/harena-project/harena/go/scope"
)

// collect returns what a reader gets, by name, after a server has served.
func collect(t *testing.T, framework string, options scope.Options, requests int) map[string]metricdata.Metrics {
	t.Helper()
	group, err := scope.NewGroup([]string{"/s/A"}, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	group.Publish(framework)
	defer runtime.KeepAlive(group)
	for range requests {
		s := group.Pool("/s/A").Get()
		s.StartDecoding(1000).Stop()
		arena.MakeSlice[byte](s.Arena(), 3000, 3000)
		s.End()
	}
	reader := metric.NewManualReader(metric.WithProducer(NewProducer()))
	metric.NewMeterProvider(metric.WithReader(reader))
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]metricdata.Metrics)
	for _, scopeMetrics := range all.ScopeMetrics {
		if scopeMetrics.Scope.Name != ScopeName {
			t.Errorf("instrumentation scope %q", scopeMetrics.Scope.Name)
		}
		for _, m := range scopeMetrics.Metrics {
			if _, twice := byName[m.Name]; twice {
				t.Errorf("%s is there twice", m.Name)
			}
			byName[m.Name] = m
		}
	}
	return byName
}

func valueOf(set attribute.Set, key attribute.Key) string {
	value, _ := set.Value(key)
	return value.AsString()
}

func TestEveryMetricIsProduced(t *testing.T) {
	all := collect(t, "every-test", scope.Options{RequestBytesMax: 1 << 20}, 1)
	for _, m := range metrics.All() {
		if m.Name == "harena_process_bytes_max" {
			continue // there is no limit
		}
		if got := all[nameOf(m)]; got.Data == nil || got.Description != m.Help {
			t.Errorf("%s is not produced as %s", m.Name, nameOf(m))
		}
	}
	if got := all["harena.scope_used"]; got.Unit != "By" {
		t.Errorf("the unit of bytes is %q", got.Unit)
	}
	if got := all["harena.parse"]; got.Unit != "s" {
		t.Errorf("the unit of seconds is %q", got.Unit)
	}
	if got := all["harena.requests"]; got.Unit != "{request}" {
		t.Errorf("the unit of requests is %q", got.Unit)
	}
}

func TestCountersAndHistograms(t *testing.T) {
	all := collect(t, "values-test", scope.Options{}, 40)
	found := false
	for _, point := range all["harena.requests"].Data.(metricdata.Sum[float64]).DataPoints {
		if valueOf(point.Attributes, "framework") == "values-test" {
			found = point.Value == 40 && valueOf(point.Attributes, "method") == "/s/A"
		}
	}
	if !found {
		t.Errorf("40 requests are %+v", all["harena.requests"].Data)
	}
	found = false
	for _, point := range all["harena.scope_used"].Data.(metricdata.Histogram[float64]).DataPoints {
		if valueOf(point.Attributes, "framework") == "values-test" {
			found = point.Count == 40 && point.BucketCounts[2] == 40 && point.Bounds[2] == 4096 &&
				len(point.BucketCounts) == len(point.Bounds)+1 && point.Sum >= 40*3000
		}
	}
	if !found {
		t.Errorf("40 requests of 3000 bytes are %+v", all["harena.scope_used"].Data)
	}
}

// JSON, which exporters write, has no infinity.
func TestNoLimitIsNoValue(t *testing.T) {
	all := collect(t, "limit-test", scope.Options{}, 1)
	limits, there := all["harena.request_bytes_max"]
	if !there {
		return
	}
	for _, point := range limits.Data.(metricdata.Gauge[float64]).DataPoints {
		if valueOf(point.Attributes, "framework") == "limit-test" {
			t.Errorf("no limit is produced as %v", point.Value)
		}
	}
}
