package advise

import (
	"fmt"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// processBudgetRule bounds all requests together by four times the most of the recorded minutes.
type processBudgetRule struct{}

// samplesMin is how long a timeline has to be: five minutes of seconds.
const samplesMin = 300

const processBytesMaxLeast = 256 * mib

func (processBudgetRule) process(p status.Profile) []Advice {
	if len(p.Timeline.Samples) < samplesMin {
		return nil
	}
	var most int64
	for _, sample := range p.Timeline.Samples {
		most = max(most, sample.ProcessBytesUsed)
	}
	fits := max(powerOfTwo(4*most), processBytesMaxLeast)
	now := p.Status.Process.BytesMax
	if most == 0 || now != nil && (p.Status.Process.Refusals == 0 || *now >= fits) {
		return nil
	}
	advice := Advice{
		Key: "process_bytes_max", From: limit(now), To: Size(fits),
		Evidence: fmt.Sprintf("all requests together held at most %s in the last %d samples, and nothing bounds them",
			About(most), len(p.Timeline.Samples)),
		Saving: fmt.Sprintf("a flood of requests holds at most %s instead of what the machine has "+
			"(process.refusals counts what was refused)", About(fits)),
	}
	if now != nil {
		advice.Evidence = fmt.Sprintf("%d blocks were refused at %s, and the requests of the last %d samples held up to %s",
			p.Status.Process.Refusals, About(*now), len(p.Timeline.Samples), About(most))
		advice.Saving = "fewer refusals (process.refusals), if the machine has the memory"
	}
	return []Advice{advice}
}
