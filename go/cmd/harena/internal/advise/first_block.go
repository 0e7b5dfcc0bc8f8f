package advise

import (
	"fmt"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// firstBlockRule lets C++ learn the block that requests begin with, where one was set that most requests
// outgrow, or that holds several times what they use. It advises no size: what is learned is enough, and
// first blocks larger than the learned ones may be save nothing that was measurable (docs/tuning.md).
type firstBlockRule struct{}

// learnedBytesMost is first_block_bytes_max as it is by default.
const learnedBytesMost = 256 * kib

func (firstBlockRule) method(p status.Profile, m status.Method) []Advice {
	b, fixed := m.Bytes, m.Settings.FirstBlockBytes
	if p.Status.Language != "c++" || fixed == nil || b.P50 == nil || b.P90 == nil || b.P99 == nil || *b.P99 == 0 {
		return nil
	}
	learned := min(pages(*b.P90), learnedBytesMost)
	advice := Advice{Key: "first_block_bytes", From: Size(*fixed), To: "auto"}
	switch {
	case *fixed > 2*pages(*b.P99):
		advice.Evidence = fmt.Sprintf("99 of 100 requests take %s or less, and each begins with %s", About(*b.P99), About(*fixed))
		advice.Saving = fmt.Sprintf("about %s for each request in flight, %d of them now (the pool's bytes_in_use)",
			About(*fixed-learned), m.Scopes.Live)
	case *fixed < learned && *b.P50 > *fixed:
		advice.Evidence = fmt.Sprintf("each request begins with %s, and half of them take more than %s", About(*fixed), About(*b.P50))
		advice.Saving = fewerBlocks(m, *fixed, learned)
	default:
		return nil
	}
	return []Advice{advice}
}

// fewerBlocks predicts what pools count: blocks allocated per request.
func fewerBlocks(m status.Method, now, wanted int64) string {
	if len(m.Bytes.Histogram) == 0 {
		return "fewer blocks per request (the pool's blocks_allocated)"
	}
	return fmt.Sprintf("about %.1f instead of %.1f blocks per request (the pool's blocks_allocated)",
		blocks(m, wanted), blocks(m, now))
}

// blocks estimates how many a request takes that begins with first bytes and goes on in pages, from the
// middles of the histogram's buckets.
func blocks(m status.Method, first int64) float64 {
	var requests, sum, below float64
	for _, bucket := range m.Bytes.Histogram {
		middle := 2 * below
		if bucket.LE != nil {
			middle = (below + *bucket.LE) / 2
			below = *bucket.LE
		}
		more := max(0, middle-float64(first))
		requests += float64(bucket.Count)
		sum += float64(bucket.Count) * (1 + more/float64(pageBytes))
	}
	return sum / max(requests, 1)
}
