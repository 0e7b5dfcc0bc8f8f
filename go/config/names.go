package config

import (
	"slices"
	"strings"
)

// near returns the name that the wrong one was probably meant to be, or "".
func near(wrong string, names []string) string {
	best, least := "", max(2, len(wrong)/5)+1
	for _, name := range names {
		if d := distance(wrong, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is Levenshtein's: how many bytes to insert, remove or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// isMethodName reports whether a framework may name a method so: "/package.Service/Method", in brpc
// "package.Service.Method".
func isMethodName(name string) bool {
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) {
		return false
	}
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		parts = strings.Split(name, ".")
		return len(parts) > 1 && !slices.Contains(parts, "")
	}
	return len(parts) == 3 && parts[0] == "" && parts[1] != "" && parts[2] != ""
}
