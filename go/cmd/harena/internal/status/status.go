// Package status reads what the live listener of a server says: from the server, or from a file in
// which that was recorded.
package status

import (
	"strings"
	"time"
	"unicode"
)

// Status is the answer to GET /harena/api/status. What a language does not have is nil or zero.
type Status struct {
	Harena    string    `json:"harena"`
	Language  string    `json:"language"` // "c++" or "go"
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
	Now       time.Time `json:"now"`
	Process   Process   `json:"process"`
	Methods   []Method  `json:"methods"`
	Pools     []Pool    `json:"pools,omitempty"`
}

// Process is what all methods share.
type Process struct {
	BytesMax  *int64 `json:"bytes_max"` // nil: no limit
	BytesUsed int64  `json:"bytes_used"`
	Refusals  uint64 `json:"refusals"`
}

// Method is one method's settings and counts since the start.
type Method struct {
	Name      string            `json:"name"`
	Framework string            `json:"framework"`
	Mode      string            `json:"mode"`
	Served    string            `json:"served"`
	Modes     []string          `json:"modes"`
	Settings  Settings          `json:"settings"`
	Requests  uint64            `json:"requests"`
	Malformed uint64            `json:"malformed,omitempty"`
	Refused   uint64            `json:"refused"`
	RefusedBy map[string]uint64 `json:"refused_by"`
	Scopes    Scopes            `json:"scopes"`
	Bytes     Bytes             `json:"bytes"`
	// WireBytesSum is nil where nobody counted.
	WireBytesSum *int64 `json:"wire_bytes_sum,omitempty"`
	// FirstBlockBytes is what the next request begins with (C++).
	FirstBlockBytes *int64 `json:"first_block_bytes,omitempty"`
	Kept            *Kept  `json:"kept,omitempty"` // C++, mode reuse
}

// Settings are those of the requests from now on. nil is no limit, and learned for the first block.
type Settings struct {
	Mode              string   `json:"mode"`
	RequestBytesMax   *int64   `json:"request_bytes_max"`
	DecodedRatioMax   *float64 `json:"decoded_ratio_max"`
	DecodedFloorBytes int64    `json:"decoded_floor_bytes"`
	DepthMax          *int64   `json:"depth_max"`
	FirstBlockBytes   *int64   `json:"first_block_bytes,omitempty"`
}

// Scopes counts scopes.
type Scopes struct {
	Made  uint64 `json:"made"`
	Ended uint64 `json:"ended"`
	Live  uint64 `json:"live"`
}

// Bytes is what one request took. Percentiles are of recent requests; nil where nobody counts them.
type Bytes struct {
	P50       *int64   `json:"p50,omitempty"`
	P90       *int64   `json:"p90,omitempty"`
	P99       *int64   `json:"p99,omitempty"`
	Max       *int64   `json:"max,omitempty"`
	Sum       *int64   `json:"sum,omitempty"`
	Histogram []Bucket `json:"histogram,omitempty"`
}

// Bucket counts the requests up to LE bytes that the buckets before it do not have.
type Bucket struct {
	LE    *float64 `json:"le"` // nil for all that is more
	Count uint64   `json:"count"`
}

// Kept is the messages that mode reuse keeps.
type Kept struct {
	InstancesIdle    uint64 `json:"instances_idle"`
	BytesIdle        int64  `json:"bytes_idle"`
	InstancesBuilt   uint64 `json:"instances_built"`
	InstancesDropped uint64 `json:"instances_dropped"`
}

// Pool is a page pool (C++).
type Pool struct {
	Name              string `json:"name"`
	BytesInUse        int64  `json:"bytes_in_use"`
	BytesThreadCached int64  `json:"bytes_thread_cached"`
	BytesRetained     int64  `json:"bytes_retained"`
	BytesCold         int64  `json:"bytes_cold"`
	BytesMapped       int64  `json:"bytes_mapped"`
	RetainedBytesMax  *int64 `json:"retained_bytes_max"`
	DecayAfterMS      int64  `json:"decay_after_ms"`
	BlocksAllocated   uint64 `json:"blocks_allocated"`
	BlocksFreed       uint64 `json:"blocks_freed"`
	BytesDecommitted  int64  `json:"bytes_decommitted"`
	Refusals          uint64 `json:"refusals"`
}

// Timeline is the answer to GET /harena/api/timeline: the last minutes.
type Timeline struct {
	IntervalMS int64    `json:"interval_ms"`
	Samples    []Sample `json:"samples"`
}

// Sample is one moment of it. The pools' bytes are there in C++ alone.
type Sample struct {
	AtMS              int64   `json:"at_ms"`
	RequestsPerS      float64 `json:"requests_per_s"`
	RefusedPerS       float64 `json:"refused_per_s"`
	ProcessBytesUsed  int64   `json:"process_bytes_used"`
	PoolBytesInUse    *int64  `json:"pool_bytes_in_use,omitempty"`
	PoolBytesRetained *int64  `json:"pool_bytes_retained,omitempty"`
}

// Requests returns how many all methods had.
func (s Status) Requests() uint64 {
	var sum uint64
	for _, m := range s.Methods {
		sum += m.Requests
	}
	return sum
}

// clean takes from the texts what a terminal would obey.
func (s *Status) clean() {
	for i := range s.Methods {
		m := &s.Methods[i]
		for _, text := range []*string{&m.Name, &m.Framework, &m.Mode, &m.Served} {
			*text = printable(*text)
		}
	}
	s.Harena, s.Language = printable(s.Harena), printable(s.Language)
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}
