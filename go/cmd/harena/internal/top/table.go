// Package top shows what a live listener says of its methods as a table that is kept up to date.
package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/harena-project/harena/go/cmd/harena/internal/advise"
	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// row is one method.
type row struct {
	method   status.Method
	rate     float64 // requests per second
	headroom float64 // share of request_bytes_max that the largest request left; -1 without a limit
}

// column is a column of the table.
type column struct {
	title string
	text  func(r row) string
	less  func(a, b row) int // largest first, but for names
	right bool
}

var columns = []column{
	{"METHOD", func(r row) string { return r.method.Name },
		func(a, b row) int { return cmp.Compare(a.method.Name, b.method.Name) }, false},
	{"MODE", modeText, func(a, b row) int { return cmp.Compare(a.method.Mode, b.method.Mode) }, false},
	{"REQ/S", func(r row) string { return fmt.Sprintf("%.0f", r.rate) },
		func(a, b row) int { return cmp.Compare(b.rate, a.rate) }, true},
	{"LIVE", func(r row) string { return fmt.Sprint(r.method.Scopes.Live) },
		func(a, b row) int { return cmp.Compare(b.method.Scopes.Live, a.method.Scopes.Live) }, true},
	{"P50", bytesText(func(b status.Bytes) *int64 { return b.P50 }), byBytes(func(b status.Bytes) *int64 { return b.P50 }), true},
	{"P99", bytesText(func(b status.Bytes) *int64 { return b.P99 }), byBytes(func(b status.Bytes) *int64 { return b.P99 }), true},
	{"MAX", bytesText(func(b status.Bytes) *int64 { return b.Max }), byBytes(func(b status.Bytes) *int64 { return b.Max }), true},
	{"LIMIT", func(r row) string {
		if r.method.Settings.RequestBytesMax == nil {
			return "none"
		}
		return advise.About(*r.method.Settings.RequestBytesMax)
	}, func(a, b row) int { return cmp.Compare(limitOf(b), limitOf(a)) }, true},
	{"HEADROOM", func(r row) string {
		if r.headroom < 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f%%", 100*r.headroom)
	}, func(a, b row) int { return cmp.Compare(a.headroom, b.headroom) }, true},
	{"REFUSED", func(r row) string { return fmt.Sprint(r.method.Refused) },
		func(a, b row) int { return cmp.Compare(b.method.Refused, a.method.Refused) }, true},
	{"REQUESTS", func(r row) string { return fmt.Sprint(r.method.Requests) },
		func(a, b row) int { return cmp.Compare(b.method.Requests, a.method.Requests) }, true},
}

// Columns returns what --sort can name.
func Columns() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = strings.ToLower(c.title)
	}
	return names
}

// View is what of the rows is shown, in which order.
type View struct {
	SortBy  string // one of Columns()
	Reverse bool
	Filter  string // part of a method's name
}

func modeText(r row) string {
	if r.method.Served != "" && r.method.Served != r.method.Mode {
		return r.method.Mode + ">" + r.method.Served
	}
	return r.method.Mode
}

func bytesText(of func(status.Bytes) *int64) func(row) string {
	return func(r row) string {
		if bytes := of(r.method.Bytes); bytes != nil {
			return advise.About(*bytes)
		}
		return "-"
	}
}

func byBytes(of func(status.Bytes) *int64) func(a, b row) int {
	value := func(r row) int64 {
		if bytes := of(r.method.Bytes); bytes != nil {
			return *bytes
		}
		return -1
	}
	return func(a, b row) int { return cmp.Compare(value(b), value(a)) }
}

func limitOf(r row) int64 {
	if r.method.Settings.RequestBytesMax == nil {
		return 1<<63 - 1
	}
	return *r.method.Settings.RequestBytesMax
}

// rows compares two answers of one server; rates are zero without an earlier one.
func rows(before *status.Status, now status.Status) []row {
	type id struct{ framework, name string }
	earlier := make(map[id]uint64)
	seconds := 0.0
	if before != nil && before.PID == now.PID {
		seconds = now.Now.Sub(before.Now).Seconds()
		for _, m := range before.Methods {
			earlier[id{m.Framework, m.Name}] = m.Requests
		}
	}
	all := make([]row, 0, len(now.Methods))
	for _, m := range now.Methods {
		r := row{method: m, headroom: -1}
		if was, there := earlier[id{m.Framework, m.Name}]; there && seconds > 0 && m.Requests >= was {
			r.rate = float64(m.Requests-was) / seconds
		}
		most := m.Bytes.Max
		if most == nil {
			most = m.Bytes.P99
		}
		if limit := m.Settings.RequestBytesMax; limit != nil && most != nil && *limit > 0 {
			r.headroom = max(0, 1-float64(*most)/float64(*limit))
		}
		all = append(all, r)
	}
	return all
}

// pick returns the rows that the view shows, in its order.
func (v View) pick(all []row) []row {
	shown := slices.DeleteFunc(slices.Clone(all), func(r row) bool {
		return !strings.Contains(strings.ToLower(r.method.Name), strings.ToLower(v.Filter))
	})
	less := columns[max(0, slices.Index(Columns(), v.SortBy))].less
	slices.SortStableFunc(shown, func(a, b row) int {
		order := less(a, b)
		if order == 0 {
			order = cmp.Compare(a.method.Name, b.method.Name)
		}
		if v.Reverse {
			return -order
		}
		return order
	})
	return shown
}

// lines returns the table, the titles first, in lines of so many runes; 0 is without bounds.
func lines(shown []row, lineRunes int, sortBy string) []string {
	widths := make([]int, len(columns))
	cells := make([][]string, len(shown)+1)
	for i := range cells {
		cells[i] = make([]string, len(columns))
		for j, c := range columns {
			if i == 0 {
				cells[i][j] = c.title
			} else {
				cells[i][j] = c.text(shown[i-1])
			}
			widths[j] = max(widths[j], len([]rune(cells[i][j])))
		}
	}
	fitting := fit(widths, lineRunes, sortBy)
	all := make([]string, len(cells))
	for i, line := range cells {
		padded := make([]string, len(fitting))
		for k, j := range fitting {
			cell := line[j]
			if j == 0 {
				cell = tail(cell, widths[0])
			}
			space := strings.Repeat(" ", widths[j]-len([]rune(cell)))
			if columns[j].right {
				padded[k] = space + cell
			} else {
				padded[k] = cell + space
			}
		}
		all[i] = strings.TrimRight(strings.Join(padded, strings.Repeat(" ", gap)), " ")
	}
	return all
}

// headline is what all methods share.
func headline(s status.Status) string {
	limit := "no limit"
	if s.Process.BytesMax != nil {
		limit = "of " + advise.About(*s.Process.BytesMax)
	}
	text := fmt.Sprintf("harena %s (%s)  pid %d  up %s  requests hold %s, %s", s.Harena, s.Language, s.PID,
		s.Now.Sub(s.StartedAt).Round(1e9), advise.About(s.Process.BytesUsed), limit)
	for _, pool := range s.Pools {
		if pool.Name == "default" {
			text += fmt.Sprintf("  pool: %s used, %s kept", advise.About(pool.BytesInUse), advise.About(pool.BytesRetained))
		}
	}
	return text
}

// Once returns the table as text.
func Once(before *status.Status, now status.Status, view View) string {
	return headline(now) + "\n" + strings.Join(lines(view.pick(rows(before, now)), 0, view.SortBy), "\n") + "\n"
}
