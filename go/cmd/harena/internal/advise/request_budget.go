package advise

import (
	"fmt"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// requestBudgetRule sets what one request may take to at least twice what the largest took: nobody
// honest is refused, and a hostile one is stopped there.
type requestBudgetRule struct{}

const requestBytesMaxLeast = mib

func (requestBudgetRule) method(_ status.Profile, m status.Method) []Advice {
	most, what, known := largest(m)
	if !known {
		return nil
	}
	fits := max(powerOfTwo(2*most), requestBytesMaxLeast)
	now := m.Settings.RequestBytesMax
	refused := m.RefusedBy["request_bytes_max"]
	advice := Advice{Key: "request_bytes_max", From: limit(now), To: Size(fits)}
	switch {
	case now == nil:
		advice.Evidence = fmt.Sprintf("%s of %d requests is %s, and nothing bounds a request", what, m.Requests, About(most))
		advice.Saving = fmt.Sprintf("one hostile request holds at most %s instead of what the machine has "+
			"(refused_by.request_bytes_max counts them)", About(fits))
	case refused > 0 && *now < fits:
		advice.Evidence = fmt.Sprintf("%d of %d requests were refused at %s, and %s of those served is %s: "+
			"honest ones may be among them", refused, m.Requests, About(*now), what, About(most))
		advice.Saving = fmt.Sprintf("up to %d refusals in as many requests (refused_by.request_bytes_max)", refused)
	case *now < most+most/4:
		advice.Evidence = fmt.Sprintf("%s of %d requests is %s, %d %% of the limit", what, m.Requests, About(most), 100*most / *now)
		advice.Saving = "no refusals of requests that are a little larger (refused_by.request_bytes_max)"
	case *now >= 16*fits:
		advice.Evidence = fmt.Sprintf("%s of %d requests is %s, and the limit is %d times that",
			what, m.Requests, About(most), *now/max(most, 1))
		advice.Saving = fmt.Sprintf("one hostile request holds at most %s instead of %s", About(fits), About(*now))
	default:
		return nil
	}
	return []Advice{advice}
}

// largest returns the most bytes that one request took, as far as that was measured.
func largest(m status.Method) (bytes int64, what string, known bool) {
	switch {
	case m.Bytes.Max != nil && *m.Bytes.Max > 0:
		return *m.Bytes.Max, "the largest", true
	case m.Bytes.P99 != nil && *m.Bytes.P99 > 0:
		// A percentile says nothing of what is beyond it.
		return 4 * *m.Bytes.P99, "four times the 99th percentile", true
	}
	return 0, "", false
}
