package top

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
	"github.com/harena-project/harena/go/cmd/harena/internal/status/statustest"
)

// later is the same server after two seconds and some requests of the first method.
func later(before status.Status, requests uint64) status.Status {
	now := before
	now.Now = before.Now.Add(2 * time.Second)
	now.Methods = append([]status.Method(nil), before.Methods...)
	now.Methods[0].Requests += requests
	return now
}

func TestOnce(t *testing.T) {
	before := statustest.Recorded(t).Status
	now := later(before, 500)
	got := Once(&before, now, View{SortBy: "req/s", Filter: "ranking"})
	want := `harena 0.1.0 (c++)  pid 4711  up 1h0m2s  requests hold 50.0 MiB, no limit  pool: 32.0 MiB used, 128.0 MiB kept
METHOD                 MODE   REQ/S  LIVE        P50      P99      MAX  LIMIT  HEADROOM  REFUSED  REQUESTS
/shop.Ranking/Rank     codec    250    12  488.3 KiB  1.2 MiB  2.9 MiB   none         -        0    100500
/shop.Ranking/Explain  heap       0     0        0 B      0 B        -   none         -        0     20000
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSorting(t *testing.T) {
	now := statustest.Recorded(t).Status
	first := func(view View) string { return view.pick(rows(nil, now))[0].method.Name }
	for _, c := range []struct {
		view View
		want string
	}{
		{View{SortBy: "method"}, "/shop.Admin/Reset"},
		{View{SortBy: "method", Reverse: true}, "/shop.Ranking/Rank"},
		{View{SortBy: "requests"}, "/shop.Ranking/Rank"},
		{View{SortBy: "p99", Filter: "FEED"}, "/shop.Feed/Delete"}, // all alike: by name
		{View{SortBy: "headroom", Reverse: true}, "/shop.Feed/Put"},
	} {
		if got := first(c.view); got != c.want {
			t.Errorf("%+v: %s is first; want %s", c.view, got, c.want)
		}
	}
	for _, name := range Columns() {
		if len(View{SortBy: name}.pick(rows(nil, now))) != len(now.Methods) {
			t.Errorf("sorting by %s loses rows", name)
		}
	}
}

// Another process, or a method that is new, has no rate.
func TestRatesNeedTheSameServer(t *testing.T) {
	before := statustest.Recorded(t).Status
	now := later(before, 500)
	now.PID++
	if got := rows(&before, now)[0].rate; got != 0 {
		t.Errorf("the rate over a restart is %v", got)
	}
	now.PID--
	now.Methods[0].Requests = 3
	if got := rows(&before, now)[0].rate; got != 0 {
		t.Errorf("the rate of a server that began anew is %v", got)
	}
}

func press(t *testing.T, m tea.Model, keys ...string) tea.Model {
	t.Helper()
	for _, key := range keys {
		message := tea.KeyPressMsg{Text: key}
		if len(key) == 1 {
			message.Code = rune(key[0])
		} else {
			message = map[string]tea.KeyPressMsg{"enter": {Code: tea.KeyEnter}, "down": {Code: tea.KeyDown},
				"backspace": {Code: tea.KeyBackspace}, "esc": {Code: tea.KeyEscape}}[key]
		}
		m, _ = m.Update(message)
	}
	return m
}

func TestScreen(t *testing.T) {
	before := statustest.Recorded(t).Status
	answer := before
	var failure error
	var m tea.Model = model{ctx: context.Background(), interval: time.Second, view: View{SortBy: "method"}, width: 80, height: 24,
		ask: func(context.Context) (status.Status, error) { return answer, failure }}
	shown := func() string { return m.(model).text() }
	if !strings.Contains(shown(), "asking...") {
		t.Errorf("before the first answer:\n%s", shown())
	}
	m, _ = m.Update(m.Init()())
	answer = later(before, 1000)
	m, _ = m.Update(tick{})
	m, _ = m.Update(m.(model).fetch())
	if text := shown(); !strings.Contains(text, "/shop.Ranking/Rank     codec          500") {
		t.Errorf("the rate is not there:\n%s", text)
	}
	m = press(t, m, "/", "g", "e", "x", "backspace", "t", "enter")
	if text := shown(); !strings.Contains(text, "/shop.Feed/Get") || strings.Contains(text, "/shop.Feed/Put") {
		t.Errorf("filtered by get:\n%s", text)
	}
	m = press(t, m, "/", "esc", "s", "r")
	if text := shown(); !strings.Contains(text, "sorted by mode, reversed") {
		t.Errorf("after s and r:\n%s", text)
	}
	m, _ = m.Update(tea.WindowSizeMsg{Width: 40, Height: 6})
	m = press(t, m, "down", "down", "down", "down", "down", "down", "down", "down", "down")
	if text := shown(); strings.Count(text, "/shop.") != 2 {
		t.Errorf("six lines have room for two methods:\n%s", text)
	}
	failure = errors.New("nothing answers")
	m, _ = m.Update(m.(model).fetch())
	if text := shown(); !strings.Contains(text, "nothing answers") || !strings.Contains(text, "/shop.") {
		t.Errorf("a failure is told beside the last numbers:\n%s", text)
	}
	if _, command := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); command == nil {
		t.Error("q does not end it")
	}
}
