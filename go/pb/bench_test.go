package pb

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb/workloads/benchpb"
)

// letters returns a text of 8 to 8+spread-1 letters.
func letters(r *rand.Rand, spread int) string {
	b := make([]byte, 8+r.IntN(spread))
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}

// ranking returns a request with so many groups of ten candidates: about 4.2 KB each on the wire.
func ranking(groups int) *benchpb.RankRequest {
	r := rand.New(rand.NewPCG(1, 2))
	m := &benchpb.RankRequest{RequestId: letters(r, 30), Context: map[string]string{}}
	for g := range groups {
		group := &benchpb.CandidateGroup{Title: letters(r, 40), Labels: map[string]string{}, Counters: map[string]int64{}}
		for k := range 4 {
			group.Labels[fmt.Sprint("label", k)] = letters(r, 30)
			group.Counters[fmt.Sprint("c", k)] = int64(g)
		}
		for range 10 {
			group.Items = append(group.Items, candidate(r))
		}
		m.Groups = append(m.Groups, group)
	}
	return m
}

func candidate(r *rand.Rand) *benchpb.Candidate {
	c := &benchpb.Candidate{
		ItemId: letters(r, 20), Name: letters(r, 40), Url: letters(r, 50),
		Price: r.Float64(), Fingerprint: []byte(letters(r, 16)), Stock: proto.Int64(5),
	}
	for range 4 {
		c.Scores = append(c.Scores, r.Float64())
		c.Categories = append(c.Categories, int32(r.IntN(1000)))
		c.History = append(c.History, r.Uint32())
	}
	for range 3 {
		c.Tags = append(c.Tags, &benchpb.Tag{
			Key: letters(r, 12), Value: letters(r, 30), Weight: r.Float32(),
			Origin: &benchpb.Origin{Feed: letters(r, 16), Revision: 77},
		})
	}
	return c
}

// benchmarkSizes runs a benchmark for a small and a large request, with its encoding.
func benchmarkSizes(b *testing.B, run func(b *testing.B, m *benchpb.RankRequest, wire []byte)) {
	for _, size := range []struct {
		name   string
		groups int
	}{{"8KB", 2}, {"180KB", 43}} {
		m := ranking(size.groups)
		wire, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name, func(b *testing.B) { run(b, m, wire) })
	}
}

// measure runs f b.N times and reports the CPU time of the whole process for each, which contains the
// garbage collector's.
func measure(b *testing.B, name string, bytes int, f func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(bytes))
		b.ReportAllocs()
		start := cpuTime(b)
		for b.Loop() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns/op")
	})
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkUnmarshal(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, _ *benchpb.RankRequest, wire []byte) {
		measure(b, "proto", len(wire), func() error { return proto.Unmarshal(wire, new(benchpb.RankRequest)) })
		a := arena.New()
		defer a.Free()
		into := func(o UnmarshalOptions) func() error {
			return func() error {
				err := o.Unmarshal(a, wire, arena.NewOf[benchpb.RankRequest](a))
				a.Reset()
				return err
			}
		}
		measure(b, "pb", len(wire), into(UnmarshalOptions{}))
		measure(b, "pb-limits", len(wire), into(UnmarshalOptions{Limits: Limits{BytesMax: 1 << 30, DepthMax: 100}}))
		measure(b, "pb-alias", len(wire), into(UnmarshalOptions{AliasInput: true}))
	})
}

func BenchmarkMarshal(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, m *benchpb.RankRequest, wire []byte) {
		measure(b, "proto", len(wire), func() error { _, err := proto.Marshal(m); return err })
		measure(b, "pb", len(wire), func() error { _, err := Marshal(m); return err })
	})
}

func BenchmarkMarshalAppend(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, m *benchpb.RankRequest, wire []byte) {
		out := make([]byte, 0, 2*len(wire))
		measure(b, "proto", len(wire), func() error { _, err := proto.MarshalOptions{}.MarshalAppend(out, m); return err })
		measure(b, "pb", len(wire), func() error { _, err := MarshalOptions{}.MarshalAppend(out, m); return err })
	})
}

// BenchmarkMarshalDeterministic sorts the maps.
func BenchmarkMarshalDeterministic(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, m *benchpb.RankRequest, wire []byte) {
		measure(b, "proto", len(wire), func() error { _, err := proto.MarshalOptions{Deterministic: true}.Marshal(m); return err })
		measure(b, "pb", len(wire), func() error { _, err := MarshalOptions{Deterministic: true}.Marshal(m); return err })
	})
}
