package scope

import (
	"math"
	"testing"

	"github.com/harena-project/harena/go/arena"
)

func TestBytesHistogramBuckets(t *testing.T) {
	var h BytesHistogram
	for bucket := range len(h) - 1 {
		most := h.BytesMax(bucket)
		if bytesBucketOf(most) != bucket || bytesBucketOf(most+1) != bucket+1 {
			t.Errorf("%d bytes are in bucket %d, one more in %d; want %d and the next",
				most, bytesBucketOf(most), bytesBucketOf(most+1), bucket)
		}
	}
	if h.BytesMax(0) != 1<<10 || h.BytesMax(len(h)-2) != 1<<30 || h.BytesMax(len(h)-1) != 0 {
		t.Errorf("bounds are %d, %d, %d; want 1 KiB, 1 GiB and none",
			h.BytesMax(0), h.BytesMax(len(h)-2), h.BytesMax(len(h)-1))
	}
	if bytesBucketOf(0) != 0 || bytesBucketOf(math.MaxInt64) != len(h)-1 {
		t.Error("the ends do not fall into the first and the last bucket")
	}
}

func TestScopesAreCountedByTheirBytes(t *testing.T) {
	p := newPool(t, Options{})
	const small = 3000 // more than what is remembered for percentiles
	serve := func(bytes int) {
		s := p.Get()
		arena.MakeSlice[byte](s.Arena(), bytes, bytes)
		s.End()
	}
	for range small {
		serve(1000)
	}
	serve(5000)
	stats := p.Stats()
	if stats.BytesUsed[0] != small || stats.BytesUsed[3] != 1 || stats.BytesUsed.Count() != stats.ScopesEnded {
		t.Errorf("%d scopes of 1000 bytes and one of 5000 are counted as %v", small, stats.BytesUsed)
	}
	a := stats.Arenas
	if a.BytesUsedP50 < 1000 || a.BytesUsedP99 > 1300 || a.BytesUsedP50 > a.BytesUsedP90 || a.BytesUsedP90 > a.BytesUsedP99 {
		t.Errorf("percentiles of 1000 bytes are %d, %d, %d", a.BytesUsedP50, a.BytesUsedP90, a.BytesUsedP99)
	}
}
