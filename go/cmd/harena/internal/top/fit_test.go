package top

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/harena-project/harena/go/cmd/harena/internal/status/statustest"
)

func TestNarrowTerminalsHaveFewerColumns(t *testing.T) {
	before := statustest.Recorded(t).Status
	now := later(before, 500)
	now.Methods[0].Name = "/a.package.of.some.length.RankingService/RankCandidates"
	all := rows(&before, now)
	for _, c := range []struct {
		runes  int
		sortBy string
		titles string
		name   string
	}{
		{0, "method", "METHOD MODE REQ/S LIVE P50 P99 MAX LIMIT HEADROOM REFUSED REQUESTS", "/a.package.of.some.length.RankingService/RankCandidates"},
		{200, "method", "METHOD MODE REQ/S LIVE P50 P99 MAX LIMIT HEADROOM REFUSED REQUESTS", "/a.package.of.some.length.RankingService/RankCandidates"},
		{80, "method", "METHOD MODE REQ/S P99 HEADROOM REFUSED", "…RankingService/RankCandidates"},
		{80, "requests", "METHOD REQ/S P99 HEADROOM REFUSED REQUESTS", "…th.RankingService/RankCandidates"},
		{60, "live", "METHOD REQ/S LIVE P99 HEADROOM", "…ingService/RankCandidates"},
		{40, "mode", "METHOD MODE", "…kingService/RankCandidates"},
		{20, "requests", "METHOD", "…vice/RankCandidates"},
		{5, "p99", "…THOD", "…ates"},
		{1, "p99", "…", "…"},
	} {
		got := lines(all, c.runes, c.sortBy)
		if titles := strings.Join(strings.Fields(got[0]), " "); titles != c.titles {
			t.Errorf("%d runes, by %s: %q, want %q", c.runes, c.sortBy, titles, c.titles)
		}
		if !slices.ContainsFunc(got[1:], func(line string) bool { return strings.Fields(line)[0] == c.name }) {
			t.Errorf("%d runes, by %s: no line of %q in\n%s", c.runes, c.sortBy, c.name, strings.Join(got, "\n"))
		}
		for _, line := range got {
			if utf8.RuneCountInString(line) > c.runes && c.runes > 0 {
				t.Errorf("%d runes, by %s: too long: %q", c.runes, c.sortBy, line)
			}
		}
	}
}

func TestEveryColumnButTheFirstCanBeLeftOut(t *testing.T) {
	var titles []string
	for _, c := range columns[1:] {
		titles = append(titles, c.title)
	}
	if got := slices.Sorted(slices.Values(leftOut)); !slices.Equal(got, slices.Sorted(slices.Values(titles))) {
		t.Errorf("%v, want %v", got, titles)
	}
}
