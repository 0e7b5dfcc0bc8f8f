package advise

import (
	"fmt"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// firstBlockRule sizes the block that a request of C++ begins with: so that nine of ten requests need no
// second one, and none holds several times what it uses.
type firstBlockRule struct{}

// firstBlockBytesMost is the largest that is advised: it is held for each request in flight.
const firstBlockBytesMost = 2 * mib

func (firstBlockRule) method(p status.Profile, m status.Method) []Advice {
	b := m.Bytes
	if p.Status.Language != "c++" || m.FirstBlockBytes == nil || b.P50 == nil || b.P90 == nil || b.P99 == nil ||
		*b.P99 == 0 || m.Mode != "pages" && m.Mode != "codec" {
		return nil
	}
	now, wanted := *m.FirstBlockBytes, pages(*b.P90)
	fixed := m.Settings.FirstBlockBytes
	switch {
	case fixed != nil && *fixed > 2*pages(*b.P99):
		return []Advice{{
			Key: "first_block_bytes", From: Size(*fixed), To: "auto",
			Evidence: fmt.Sprintf("99 of 100 requests take %s or less, and each begins with %s", About(*b.P99), About(*fixed)),
			Saving: fmt.Sprintf("about %s for each request in flight, %d of them now (pools' bytes_in_use)",
				About(*fixed-wanted), m.Scopes.Live),
		}}
	case *b.P50 > now && wanted <= firstBlockBytesMost:
		return []Advice{{
			Key: "first_block_bytes", From: firstBlock(fixed), To: Size(wanted),
			Evidence: fmt.Sprintf("requests begin with %s, and half of them take more than %s, one in ten more than %s",
				About(now), About(*b.P50), About(*b.P90)),
			Saving: fewerBlocks(m, now, wanted),
		}}
	}
	return nil
}

func firstBlock(bytes *int64) string {
	if bytes == nil {
		return "auto"
	}
	return Size(*bytes)
}

// fewerBlocks predicts what pools count: blocks allocated per request.
func fewerBlocks(m status.Method, now, wanted int64) string {
	before, after, known := blocks(m, now), blocks(m, wanted), len(m.Bytes.Histogram) > 0
	if !known {
		return "at most one request in ten takes a second block (pools' blocks_allocated per request)"
	}
	return fmt.Sprintf("about %.1f instead of %.1f blocks per request (pools' blocks_allocated)", after, before)
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
