package metrics

import "github.com/harena-project/harena/go/scope"

type processMetric struct {
	Metric
	value func() float64
}

type methodMetric struct {
	Metric
	collect func(m scope.MethodStats, emit func(Sample))
}

var ofProcess = []processMetric{
	{Metric{"harena_process_used_bytes", Gauge, "bytes", nil,
		"Bytes that all requests of the process hold now, as its budget counts them."},
		func() float64 { return float64(scope.ProcessBudget().BytesUsed()) }},
	{Metric{"harena_process_bytes_max", Gauge, "bytes", nil,
		"The most that they may hold together; +Inf without a limit."},
		func() float64 { return limitOr(scope.ProcessBudget().BytesMax()) }},
	{Metric{"harena_process_refusals_total", Counter, "refusals", nil,
		"Times that the process's budget had no room."},
		func() float64 { return float64(scope.ProcessBudget().Refusals()) }},
}

var ofMethod = []methodMetric{
	counter("harena_requests_total", "requests", "Requests that began.",
		func(m scope.MethodStats) uint64 { return m.ScopesStarted }),
	{labelled("harena_refused_requests_total", Counter, "requests",
		"Requests that a limit refused, by its name; `memory` stands for the system itself.", "limit"),
		func(m scope.MethodStats, emit func(Sample)) {
			refused := func(limit string, count uint64) {
				emit(Sample{LabelValues: []string{limit}, Value: float64(count)})
			}
			refused("request_bytes_max", m.RefusedBy.RequestBytesMax)
			refused("process_bytes_max", m.RefusedBy.ProcessBytesMax)
			refused("decoded_ratio_max", m.RefusedBy.DecodedRatioMax)
			refused("depth_max", m.RefusedBy.DepthMax)
		}},
	{labelled("harena_request_wire_bytes_total", Counter, "bytes",
		"Bytes of the requests as they came, where Harena is told them."),
		func(m scope.MethodStats, emit func(Sample)) {
			if m.WireBytesKnown() {
				emit(Sample{Value: float64(m.WireBytes)})
			}
		}},
	{labelled("harena_parse_seconds", Histogram, "seconds", "How long a request was decoded, of one request in 64."),
		func(m scope.MethodStats, emit func(Sample)) { emit(stepSample(m.Decoding)) }},
	{labelled("harena_serialize_seconds", Histogram, "seconds",
		"How long a response was encoded by the codec, of one request in 64."),
		func(m scope.MethodStats, emit func(Sample)) { emit(stepSample(m.Encoding)) }},
	{labelled("harena_heap_fallbacks_total", Counter, "requests",
		"Requests that were served from the heap although their mode says otherwise, by why.", "reason"),
		func(m scope.MethodStats, emit func(Sample)) {
			emit(Sample{LabelValues: []string{"uncovered"}, Value: float64(m.Uncovered)})
		}},
	{labelled("harena_method_mode", Gauge, "",
		"Always 1: the labels say which mode was chosen and which one is served.", "mode", "served"),
		func(m scope.MethodStats, emit func(Sample)) {
			mode := m.Options.Mode.String()
			emit(Sample{LabelValues: []string{mode, mode}, Value: 1})
		}},
	{labelled("harena_request_bytes_max", Gauge, "bytes",
		"The most bytes that one request may take; +Inf without a limit."),
		func(m scope.MethodStats, emit func(Sample)) {
			emit(Sample{Value: limitOr(m.Options.RequestBytesMax)})
		}},
	{labelled("harena_scope_used_bytes", Histogram, "bytes", "Bytes of its scope that a request used."),
		func(m scope.MethodStats, emit func(Sample)) {
			emit(Sample{Buckets: m.BytesUsed[:], Bounds: bytesBounds(), Sum: float64(m.BytesUsedSum)})
		}},
	gauge("harena_scope_used_bytes_max", "bytes", "The most of it that one request used so far.",
		func(m scope.MethodStats) int64 { return m.BytesUsedMax }),
	{labelled("harena_scope_used_bytes_recent", Gauge, "bytes",
		"What so many percent of the recent requests stayed within; an estimate.", "percentile"),
		func(m scope.MethodStats, emit func(Sample)) {
			percentile := func(name string, bytes int64) {
				emit(Sample{LabelValues: []string{name}, Value: float64(bytes)})
			}
			percentile("50", m.Arenas.BytesUsedP50)
			percentile("90", m.Arenas.BytesUsedP90)
			percentile("99", m.Arenas.BytesUsedP99)
		}},
	gauge("harena_scopes_live", "scopes", "Scopes that have not ended.",
		func(m scope.MethodStats) int64 { return int64(m.ScopesAlive()) }),
	counter("harena_scopes_sampled_total", "scopes", "Scopes whose memory went into quarantine.",
		func(m scope.MethodStats) uint64 { return m.Arenas.Sampled }),
	counter("harena_scopes_retained_total", "scopes", "Scopes whose memory was left to the garbage collector.",
		func(m scope.MethodStats) uint64 { return m.ScopesRetained }),
	gauge("harena_arenas_out", "arenas", "Arenas that have taken memory and were not freed.",
		func(m scope.MethodStats) int64 { return m.Arenas.ArenasOut }),
	gauge("harena_arenas_kept", "arenas", "Arenas that wait for their next request.",
		func(m scope.MethodStats) int64 { return m.Arenas.ArenasKept }),
	gauge("harena_arena_kept_bytes", "bytes", "Bytes that these hold.",
		func(m scope.MethodStats) int64 { return m.Arenas.BytesKept }),
	gauge("harena_arena_retain_bytes", "bytes",
		"The most that an arena keeps when it comes back; 0 while too little was seen to say.",
		func(m scope.MethodStats) int64 { return m.Arenas.RetainBytes }),
	counter("harena_arenas_made_total", "arenas", "Arenas made anew, because none was kept.",
		func(m scope.MethodStats) uint64 { return m.Arenas.Made }),
	counter("harena_arenas_trimmed_total", "arenas", "Arenas cut down when they came back, as they held too much.",
		func(m scope.MethodStats) uint64 { return m.Arenas.Trims }),
	counter("harena_arenas_dropped_total", "arenas", "Arenas not kept, because enough is kept already.",
		func(m scope.MethodStats) uint64 { return m.Arenas.Refusals }),
	counter("harena_arenas_decayed_total", "arenas", "Arenas dropped, because nobody needed them for a while.",
		func(m scope.MethodStats) uint64 { return m.Arenas.Decayed }),
	counter("harena_arenas_abandoned_total", "arenas", "Arenas that were left to the garbage collector without an end.",
		func(m scope.MethodStats) uint64 { return m.Arenas.Abandoned }),
	gauge("harena_arena_quarantined_bytes", "bytes", "Bytes of arenas in quarantine.",
		func(m scope.MethodStats) int64 { return m.Arenas.BytesQuarantined }),
	counter("harena_stale_writes_total", "values", "Values in quarantine that were found written: a bug in a handler.",
		func(m scope.MethodStats) uint64 { return m.Arenas.StaleWrites }),
}

func labelled(name string, kind Kind, unit, help string, labels ...string) Metric {
	return Metric{name, kind, unit, append([]string{"framework", "method", "server"}, labels...), help}
}

func counter(name, unit, help string, value func(scope.MethodStats) uint64) methodMetric {
	return methodMetric{labelled(name, Counter, unit, help), func(m scope.MethodStats, emit func(Sample)) {
		emit(Sample{Value: float64(value(m))})
	}}
}

func gauge(name, unit, help string, value func(scope.MethodStats) int64) methodMetric {
	return methodMetric{labelled(name, Gauge, unit, help), func(m scope.MethodStats, emit func(Sample)) {
		emit(Sample{Value: float64(value(m))})
	}}
}

func bytesBounds() (bounds []float64) {
	var h scope.BytesHistogram
	for i := range len(h) - 1 {
		bounds = append(bounds, float64(h.BytesMax(i)))
	}
	return bounds
}

func stepSample(step scope.StepTimes) Sample {
	sample := Sample{Buckets: step.Durations[:], Sum: step.Sum.Seconds()}
	for i := range len(step.Durations) - 1 {
		sample.Bounds = append(sample.Bounds, step.Durations.Max(i).Seconds())
	}
	return sample
}
