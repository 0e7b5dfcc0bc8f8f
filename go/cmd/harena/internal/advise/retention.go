package advise

import (
	"fmt"
	"time"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// retentionRule sets how much free memory the default page pool keeps, and for how long: less where
// some lay idle all the time, more where it is returned and mapped again with every other request.
type retentionRule struct{}

const (
	idleBytesLeast      = 16 * mib
	decayAfterDefault   = 10 * time.Second
	decommittedPerLeast = 16 * kib // bytes per request from which returning memory costs
	boundIsNear         = 0.9
)

func (retentionRule) process(p status.Profile) []Advice {
	for _, pool := range p.Status.Pools {
		// The file's page_pool is the default one.
		if pool.Name != "default" {
			continue
		}
		if advice := tooHigh(p, pool); advice != nil {
			return advice
		}
		return tooLow(p, pool)
	}
	return nil
}

func tooHigh(p status.Profile, pool status.Pool) []Advice {
	if len(p.Timeline.Samples) < samplesMin {
		return nil
	}
	// Only the last five minutes: before its first requests every server keeps nothing.
	samples := p.Timeline.Samples[len(p.Timeline.Samples)-samplesMin:]
	idle, most := int64(-1), int64(0)
	for _, sample := range samples {
		if sample.PoolBytesRetained == nil {
			return nil
		}
		if idle < 0 || *sample.PoolBytesRetained < idle {
			idle = *sample.PoolBytesRetained
		}
		most = max(most, *sample.PoolBytesRetained)
	}
	if idle < idleBytesLeast {
		return nil
	}
	evidence := fmt.Sprintf("at least %s of free memory was kept, unused, through the last %d samples", About(idle), len(samples))
	saving := fmt.Sprintf("about %s of RSS (the pool's bytes_retained)", About(idle))
	if decay := time.Duration(pool.DecayAfterMS) * time.Millisecond; decay == 0 || decay > decayAfterDefault {
		return []Advice{{Section: "page_pool", Key: "decay_after", From: decayText(decay), To: decayText(decayAfterDefault),
			Evidence: evidence, Saving: saving, SavedBytes: idle}}
	}
	bound := pages(most - idle + idleBytesLeast/4)
	if pool.RetainedBytesMax != nil && *pool.RetainedBytesMax <= bound {
		return nil
	}
	return []Advice{{Section: "page_pool", Key: "retained_bytes_max", From: limit(pool.RetainedBytesMax), To: Size(bound),
		Evidence: evidence, Saving: saving, SavedBytes: idle}}
}

func tooLow(p status.Profile, pool status.Pool) []Advice {
	requests := int64(p.Status.Requests())
	each := pool.BytesDecommitted / requests
	if each < decommittedPerLeast || pool.RetainedBytesMax == nil {
		return nil
	}
	evidence := fmt.Sprintf("%s was given back to the system over %d requests, %s for each, and mapped again",
		About(pool.BytesDecommitted), requests, About(each))
	bound := *pool.RetainedBytesMax
	if float64(pool.BytesRetained) >= boundIsNear*float64(bound) {
		more := powerOfTwo(2 * max(bound, pool.BytesInUse))
		return []Advice{{Section: "page_pool", Key: "retained_bytes_max", From: Size(bound), To: Size(more),
			Evidence: evidence,
			Saving: fmt.Sprintf("bytes given back per request go from %s towards 0 (bytes_decommitted), for up to %s more RSS",
				About(each), About(more-bound))}}
	}
	decay := time.Duration(pool.DecayAfterMS) * time.Millisecond
	if decay == 0 || decay >= decayAfterDefault {
		return nil
	}
	return []Advice{{Section: "page_pool", Key: "decay_after", From: decayText(decay), To: decayText(decayAfterDefault),
		Evidence: evidence,
		Saving: fmt.Sprintf("bytes given back per request go from %s towards 0 (bytes_decommitted), for up to %s of RSS that stays %s longer",
			About(each), About(bound), decayAfterDefault-decay)}}
}

// decayText writes a duration as a file has it.
func decayText(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}
