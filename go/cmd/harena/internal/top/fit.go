package top

import "slices"

const (
	gap            = 2  // between columns
	methodRunesMin = 24 // a method's name is cut to no less while there is a column to leave out
)

// leftOut are the columns that a narrow terminal does without, the first of them first: what the others
// say as well, then what seldom changes.
var leftOut = []string{"REQUESTS", "LIVE", "P50", "LIMIT", "MAX", "MODE", "REFUSED", "HEADROOM", "P99", "REQ/S"}

// fit returns which of the columns, with these widths, go into a line of so many runes, and sets the width
// that is left for the names of methods. The column that the table is sorted by stays longest. A line of
// no runes is one without bounds.
func fit(widths []int, lineRunes int, sortBy string) []int {
	shown := make([]int, len(columns))
	for i := range shown {
		shown[i] = i
	}
	if lineRunes <= 0 {
		return shown
	}
	others := func() int {
		sum := 0
		for _, i := range shown[1:] {
			sum += gap + widths[i]
		}
		return sum
	}
	sorted := slices.Index(Columns(), sortBy)
	order := slices.Clone(leftOut)
	if sorted > 0 {
		title := columns[sorted].title
		order = append(slices.DeleteFunc(order, func(t string) bool { return t == title }), title)
	}
	for _, title := range order {
		if others()+min(widths[0], methodRunesMin) <= lineRunes {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return columns[i].title == title })
	}
	widths[0] = max(1, min(widths[0], lineRunes-others()))
	return shown
}

// tail is the end of a text, which is what tells methods of one service apart.
func tail(text string, runesMax int) string {
	if runes := []rune(text); len(runes) > runesMax {
		return "…" + string(runes[len(runes)-runesMax+1:])
	}
	return text
}
