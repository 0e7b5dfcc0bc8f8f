package scope

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// bytesHistogramBuckets are powers of two from 1 KiB to 1 GiB, and one beyond.
const bytesHistogramBuckets = 22

// BytesHistogram counts scopes by the bytes that they used, since the start, so that the difference of
// two snapshots is what happened in between. The last count is of what is beyond the last bound.
type BytesHistogram [bytesHistogramBuckets]uint64

// BytesMax returns the most bytes that a bucket holds, or 0 for the last one, which has no bound.
func (BytesHistogram) BytesMax(bucket int) int64 {
	if bucket >= bytesHistogramBuckets-1 {
		return 0
	}
	return 1024 << bucket
}

// Count returns how many scopes there are in all buckets.
func (h BytesHistogram) Count() uint64 {
	var sum uint64
	for _, count := range h {
		sum += count
	}
	return sum
}

// DurationHistogram counts likewise by time, from about a microsecond to about a second.
type DurationHistogram [bytesHistogramBuckets]uint64

// Max returns the longest that a bucket holds, or 0 for the last one, which has no bound.
func (DurationHistogram) Max(bucket int) time.Duration {
	return time.Duration(BytesHistogram{}.BytesMax(bucket))
}

// Count returns how many there are in all buckets.
func (h DurationHistogram) Count() uint64 { return BytesHistogram(h).Count() }

type bytesHistogram [bytesHistogramBuckets]atomic.Uint64

func (h *bytesHistogram) add(bytes int64) { h[bytesBucketOf(bytes)].Add(1) }

func (h *bytesHistogram) load() (all BytesHistogram) {
	for i := range h {
		all[i] = h[i].Load()
	}
	return all
}

func bytesBucketOf(bytes int64) int {
	if bytes <= 1024 {
		return 0
	}
	return min(bits.Len64(uint64(bytes-1)>>10), bytesHistogramBuckets-1)
}
