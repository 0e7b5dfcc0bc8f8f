package advise

import (
	"fmt"
	"math"
	"strconv"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// ratioRule bounds what decoding takes per byte of the wire by ten times the method's average, where
// nothing bounds it: small requests that decode into much are far beyond that.
type ratioRule struct{}

const (
	ratioHeadroom = 10
	ratioLeast    = 50
)

func (ratioRule) method(p status.Profile, m status.Method) []Advice {
	if m.Settings.DecodedRatioMax != nil || m.WireBytesSum == nil || *m.WireBytesSum <= 0 || m.Bytes.Sum == nil {
		return nil
	}
	mean := float64(*m.Bytes.Sum) / float64(*m.WireBytesSum)
	if p.Status.Language == "go" {
		mean++ // the strings, which are parts of the wire there and not of the arena
	}
	bound := max(ratioLeast, math.Ceil(ratioHeadroom*mean/10)*10)
	return []Advice{{
		Key: "decoded_ratio_max", From: "unlimited", To: strconv.FormatFloat(bound, 'f', -1, 64),
		Evidence: fmt.Sprintf("%d requests took %.1f bytes per byte of the wire on average, and nothing bounds it",
			m.Requests, mean),
		Saving: fmt.Sprintf("a request that is small on the wire decodes into at most %.0f times its size, beyond %s "+
			"(refused_by.decoded_ratio_max counts them)", bound, About(max(m.Settings.DecodedFloorBytes, mib))),
	}}
}
