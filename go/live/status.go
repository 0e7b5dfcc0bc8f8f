package live

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/harena-project/harena/go/scope"
)

// status is the answer to GET /harena/api/status. What Go does not have is absent: the page knows what
// that means. testdata/live/status.schema.json holds it for both languages.
type status struct {
	Harena    string         `json:"harena"`
	Language  string         `json:"language"`
	PID       int            `json:"pid"`
	StartedAt time.Time      `json:"started_at"`
	Now       time.Time      `json:"now"`
	Writable  bool           `json:"writable"`
	Process   processStatus  `json:"process"`
	Methods   []methodStatus `json:"methods"`
	Changes   []change       `json:"changes"`
}

type processStatus struct {
	BytesMax  any    `json:"bytes_max"`
	BytesUsed int64  `json:"bytes_used"`
	Refusals  uint64 `json:"refusals"`
}

type methodStatus struct {
	Name      string         `json:"name"`
	Framework string         `json:"framework"`
	Mode      string         `json:"mode"`
	Served    string         `json:"served"`
	Modes     []string       `json:"modes"`
	Settings  map[string]any `json:"settings"`
	Requests  uint64         `json:"requests"`
	Refused   uint64         `json:"refused"`
	RefusedBy refusedBy      `json:"refused_by"`
	Scopes    scopesStatus   `json:"scopes"`
	Bytes     bytesStatus    `json:"bytes"`
	WireBytes *int64         `json:"wire_bytes_sum,omitempty"` // absent where nobody counted
	Parse     stepStatus     `json:"parse"`
	Serialize stepStatus     `json:"serialize"`
	Fallbacks fallbacks      `json:"heap_fallbacks"`
	Arenas    arenasStatus   `json:"arenas"`
}

// stepStatus is of the requests that were timed.
type stepStatus struct {
	Timed    uint64 `json:"timed"`
	NanosSum int64  `json:"nanos_sum"`
}

// fallbacks counts requests that were served from the heap although their mode says otherwise.
type fallbacks struct {
	Uncovered uint64 `json:"uncovered"`
}

type refusedBy struct {
	RequestBytesMax uint64 `json:"request_bytes_max"`
	ProcessBytesMax uint64 `json:"process_bytes_max"`
	DecodedRatioMax uint64 `json:"decoded_ratio_max"`
	DepthMax        uint64 `json:"depth_max"`
}

type scopesStatus struct {
	Made     uint64 `json:"made"`
	Ended    uint64 `json:"ended"`
	Live     uint64 `json:"live"`
	Retained uint64 `json:"retained"`
	Sampled  uint64 `json:"sampled"`
}

// bytesStatus is what one request took, in bytes. The percentiles are of the recent requests, an estimate that
// is never above the most that was seen; of all, while too few came back lately. The rest counts since the start.
type bytesStatus struct {
	P50       int64          `json:"p50"`
	P90       int64          `json:"p90"`
	P99       int64          `json:"p99"`
	Max       int64          `json:"max"`
	Sum       int64          `json:"sum"`
	Histogram []bucketStatus `json:"histogram"`
}

// bucketStatus counts the requests beyond the bucket before and up to LE bytes; nil is without end.
type bucketStatus struct {
	LE    *int64 `json:"le"`
	Count uint64 `json:"count"`
}

// arenasStatus is what a method's pool of arenas holds between requests.
type arenasStatus struct {
	Out       int64 `json:"out"`
	Kept      int64 `json:"kept"`
	BytesKept int64 `json:"bytes_kept"`
}

// startedAt is when this package was initialized, which is when the program was started or nearly so.
var startedAt = time.Now()

func statusNow(options Options, log *changeLog) status {
	s := status{
		Harena:    version(),
		Language:  "go",
		PID:       os.Getpid(),
		StartedAt: startedAt,
		Now:       time.Now(),
		Writable:  options.Token != "",
		Process: processStatus{
			BytesMax:  orNil(scope.ProcessBudget().BytesMax()),
			BytesUsed: scope.ProcessBudget().BytesUsed(),
			Refusals:  scope.ProcessBudget().Refusals(),
		},
		Methods: []methodStatus{},
		Changes: log.all(),
	}
	for _, served := range scope.AllServed() {
		for _, m := range served.Methods() {
			s.Methods = append(s.Methods, statusOf(served.Framework, m))
		}
	}
	return s
}

func statusOf(framework string, m scope.MethodStats) methodStatus {
	return methodStatus{
		WireBytes: wireBytesOf(m.Stats),
		Parse:     stepOf(m.Decoding),
		Serialize: stepOf(m.Encoding),
		Fallbacks: fallbacks{m.Uncovered},

		Name:      m.Name,
		Framework: framework,
		Mode:      m.Options.Mode.String(),
		Served:    m.Options.Mode.String(),
		Modes:     []string{scope.Heap.String(), scope.Codec.String()},
		Settings:  settingsOf(m.Options),
		Requests:  m.ScopesStarted,
		Refused:   m.ScopesRefused,
		RefusedBy: refusedBy(m.RefusedBy),
		Scopes: scopesStatus{
			Made:     m.ScopesStarted,
			Ended:    m.ScopesEnded,
			Live:     m.ScopesAlive(),
			Retained: m.ScopesRetained,
			Sampled:  m.Arenas.Sampled,
		},
		Bytes:  bytesOf(m.Stats),
		Arenas: arenasStatus{Out: m.Arenas.ArenasOut, Kept: m.Arenas.ArenasKept, BytesKept: m.Arenas.BytesKept},
	}
}

func wireBytesOf(stats scope.Stats) *int64 {
	if !stats.WireBytesKnown() {
		return nil
	}
	return &stats.WireBytes
}

func stepOf(step scope.StepTimes) stepStatus {
	return stepStatus{step.Durations.Count(), step.Sum.Nanoseconds()}
}

func bytesOf(stats scope.Stats) bytesStatus {
	b := bytesStatus{Max: stats.BytesUsedMax, Sum: stats.BytesUsedSum}
	for i, count := range stats.BytesUsed {
		bucket := bucketStatus{Count: count}
		if bound := stats.BytesUsed.BytesMax(i); bound > 0 {
			bucket.LE = &bound
		}
		b.Histogram = append(b.Histogram, bucket)
	}
	recent := func(percent uint64, bytes int64) int64 {
		if bytes == 0 {
			return b.percentile(percent)
		}
		return min(bytes, b.Max)
	}
	b.P50 = recent(50, stats.Arenas.BytesUsedP50)
	b.P90 = recent(90, stats.Arenas.BytesUsedP90)
	b.P99 = recent(99, stats.Arenas.BytesUsedP99)
	return b
}

// percentile is the bound of the bucket that it lies in.
func (b bytesStatus) percentile(percent uint64) int64 {
	var total, within uint64
	for _, bucket := range b.Histogram {
		total += bucket.Count
	}
	for _, bucket := range b.Histogram {
		within += bucket.Count
		if bucket.LE != nil && within*100 >= total*percent {
			return min(*bucket.LE, b.Max)
		}
	}
	return b.Max
}

func settingsOf(o scope.Options) map[string]any {
	values := make(map[string]any, len(methodSettings))
	for _, s := range methodSettings {
		values[s.name] = s.get(&o)
	}
	return values
}

// version is that of the module in the running program, or "devel".
func version() string {
	const module = "github.com/harena-project/harena/go"
	info, found := debug.ReadBuildInfo()
	if !found {
		return "devel"
	}
	if info.Main.Path == module {
		return versionOr(info.Main.Version)
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module })
	if i < 0 {
		return "devel"
	}
	return versionOr(info.Deps[i].Version)
}

func versionOr(text string) string {
	if text == "" || text == "(devel)" || strings.HasPrefix(text, "v0.0.0") {
		return "devel"
	}
	return strings.TrimPrefix(text, "v")
}
