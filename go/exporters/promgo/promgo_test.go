package promgo

import (
	"math"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/harena-project/harena/go/scope"
)

// find returns the metric of a family that has these labels.
func find(t *testing.T, name string, labels map[string]string) *dto.Metric {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			if matches(metric, labels) {
				return metric
			}
		}
	}
	t.Fatalf("no %s with %v", name, labels)
	return nil
}

func matches(metric *dto.Metric, labels map[string]string) bool {
	found := 0
	for _, label := range metric.GetLabel() {
		if want, asked := labels[label.GetName()]; asked && label.GetValue() == want {
			found++
		}
	}
	return found == len(labels)
}

func TestHistogramIsCumulative(t *testing.T) {
	serve(t, "histogram-test", 40)
	h := find(t, "harena_scope_used_bytes", map[string]string{"framework": "histogram-test"}).GetHistogram()
	if h.GetSampleCount() != 40 || h.GetSampleSum() < 40*3000 {
		t.Errorf("40 requests of 3000 bytes: %d, sum %v", h.GetSampleCount(), h.GetSampleSum())
	}
	for _, bucket := range h.GetBucket() {
		want := uint64(0)
		if bucket.GetUpperBound() >= 4096 {
			want = 40
		}
		if bucket.GetCumulativeCount() != want {
			t.Errorf("%d requests within %v bytes, want %d", bucket.GetCumulativeCount(), bucket.GetUpperBound(), want)
		}
	}
	p50 := find(t, "harena_scope_used_bytes_recent", map[string]string{"framework": "histogram-test", "percentile": "50"})
	if got := p50.GetGauge().GetValue(); got < 3000 || got > 4096 {
		t.Errorf("the median of 3000 bytes is %v", got)
	}
}

func TestRefusalsAndLimits(t *testing.T) {
	group := serve(t, "refusal-test", 1)
	group.Pool("/s/A").Refuse(scope.DepthMax)
	labels := map[string]string{"framework": "refusal-test", "limit": "depth_max"}
	if got := find(t, "harena_refused_requests_total", labels).GetCounter().GetValue(); got != 1 {
		t.Errorf("one refusal counts as %v", got)
	}
	limit := func() float64 {
		return find(t, "harena_request_bytes_max", map[string]string{"framework": "refusal-test"}).GetGauge().GetValue()
	}
	if got := limit(); got != 1<<20 {
		t.Errorf("the limit of a megabyte is exported as %v", got)
	}
	if err := group.SetRequestBytesMax("", 0); err != nil {
		t.Fatal(err)
	}
	if got := limit(); !math.IsInf(got, 1) {
		t.Errorf("no limit is exported as %v, want +Inf", got)
	}
}

func TestStepsAndWhatCameOfTheWire(t *testing.T) {
	group := serve(t, "step-test", 64*50)
	labels := map[string]string{"framework": "step-test"}
	if got := find(t, "harena_request_wire_bytes_total", labels).GetCounter().GetValue(); got != 64*50*1000 {
		t.Errorf("%v bytes of the wire, want %d", got, 64*50*1000)
	}
	parse := find(t, "harena_parse_seconds", labels).GetHistogram()
	if n := parse.GetSampleCount(); n < 20 || n > 100 || parse.GetSampleSum() <= 0 || parse.GetSampleSum() > 1 {
		t.Errorf("%d of 3200 requests are timed, %v s", n, parse.GetSampleSum())
	}
	if first := parse.GetBucket()[0].GetUpperBound(); first != 1.024e-6 {
		t.Errorf("the first bound is %v s", first)
	}
	group.Pool("/s/A").CountUncovered()
	labels["reason"] = "uncovered"
	if got := find(t, "harena_heap_fallbacks_total", labels).GetCounter().GetValue(); got != 1 {
		t.Errorf("%v fallbacks, want 1", got)
	}
}

func TestTwoServersOfOneMethodAreTwo(t *testing.T) {
	serve(t, "two-test", 1)
	serve(t, "two-test", 5)
	for server, want := range map[string]float64{"1": 1, "2": 5} {
		labels := map[string]string{"framework": "two-test", "server": server}
		if got := find(t, "harena_requests_total", labels).GetCounter().GetValue(); got != want {
			t.Errorf("server %s: %v requests, want %v", server, got, want)
		}
	}
}

func TestPrometheusFindsNothingToMend(t *testing.T) {
	serve(t, "lint-test", 1)
	problems, err := testutil.CollectAndLint(NewCollector())
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		// The names of limits are the options', in both languages.
		if !strings.HasSuffix(problem.Metric, "_max") {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}
}
