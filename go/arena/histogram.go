package arena

import "math/bits"

const (
	histogramSteps   = 4 // per power of two
	histogramBuckets = 48 * histogramSteps
	// Counts are halved when they reach this, so that old traffic fades.
	histogramAgeAt = 1024
	// Fewer values than this say nothing about a percentile.
	histogramLeast = 16
)

// histogram counts sizes in bytes, in buckets a quarter of a power of two wide.
type histogram struct {
	counts [histogramBuckets]uint16
	total  int
}

func (h *histogram) add(bytes int64) {
	if h.total >= histogramAgeAt {
		h.total = 0
		for i := range h.counts {
			h.counts[i] /= 2
			h.total += int(h.counts[i])
		}
	}
	h.counts[bucketOf(bytes)]++
	h.total++
}

// merge adds the counts of another one.
func (h *histogram) merge(other *histogram) {
	for i, count := range other.counts {
		h.counts[i] += count
	}
	h.total += other.total
}

// percentile returns the upper edge of the bucket that the part of all values lies in or below, or 0
// with too few values.
func (h *histogram) percentile(part float64) int64 {
	if h.total < histogramLeast {
		return 0
	}
	above := int(float64(h.total) * (1 - part)) // so many values may be larger
	i := histogramBuckets - 1
	for seen := int(h.counts[i]); seen <= above && i > 0; seen += int(h.counts[i]) {
		i--
	}
	return upperEdge(i)
}

func bucketOf(bytes int64) int {
	if bytes < histogramSteps {
		return int(max(bytes, 0))
	}
	power := bits.Len64(uint64(bytes)) - 1 // at least 2
	step := int(bytes>>(power-2)) & (histogramSteps - 1)
	return min((power-1)*histogramSteps+step, histogramBuckets-1)
}

// upperEdge returns the smallest size that is too large for the bucket, less one.
func upperEdge(bucket int) int64 {
	if bucket < histogramSteps {
		return int64(bucket)
	}
	power := bucket/histogramSteps + 1
	step := bucket % histogramSteps
	return int64(histogramSteps+step+1)<<(power-2) - 1
}
