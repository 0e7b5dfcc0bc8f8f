package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Value is one setting: its text as it was written, and what that means.
type Value struct {
	Text  string
	Place Place

	// Unset says that the text was "unlimited" or "auto"; then there is no number.
	Unset bool
	// Int is of sizes (bytes), counts and durations (nanoseconds).
	Int int64
	// Float is of ratios and percentages.
	Float float64
}

// Duration returns what a duration's text means.
func (v Value) Duration() time.Duration { return time.Duration(v.Int) }

// kind is a way to write a value.
type kind struct {
	unset string // the word for none, or ""
	parse func(text string, v *Value) bool
	want  string // completes `x is "..."; write `
}

var number = regexp.MustCompile(`^[0-9]{1,19}$`)
var decimal = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,15})?$`)

func parseInt(text string, v *Value) bool {
	if !number.MatchString(text) {
		return false
	}
	var err error
	v.Int, err = strconv.ParseInt(text, 10, 64)
	return err == nil
}

// parseIntUnit reads a whole number and one of the units; bare numbers are of unit "".
func parseIntUnit(text string, units map[string]int64, v *Value) bool {
	digits := strings.TrimRight(text, "KMGiBmshu")
	unit, known := units[text[len(digits):]]
	if !known || !parseInt(digits, v) || v.Int > math.MaxInt64/unit {
		return false
	}
	v.Int *= unit
	return true
}

var byteUnits = map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
var timeUnits = map[string]int64{
	"ms": int64(time.Millisecond), "s": int64(time.Second), "m": int64(time.Minute), "h": int64(time.Hour),
}

// size is bytes, from least up.
func size(unset string, least int64) kind {
	want := "whole bytes, or a whole number with KiB, MiB or GiB, such as 64MiB"
	if least > 0 {
		want += ", not 0"
	}
	if unset != "" {
		want += ", or " + unset
	}
	return kind{unset, func(text string, v *Value) bool {
		return parseIntUnit(text, byteUnits, v) && v.Int >= least
	}, want}
}

func duration() kind {
	return kind{"", func(text string, v *Value) bool {
		return parseIntUnit(text, timeUnits, v)
	}, "a whole number with ms, s, m or h, such as 10s"}
}

func count(unset string, least, most int64) kind {
	want := "a whole number from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)
	if unset != "" {
		want += ", or " + unset
	}
	return kind{unset, func(text string, v *Value) bool {
		return parseInt(text, v) && least <= v.Int && v.Int <= most
	}, want}
}

func real(unset string, allowed func(float64) bool, want string) kind {
	if unset != "" {
		want += ", or " + unset
	}
	return kind{unset, func(text string, v *Value) bool {
		if !decimal.MatchString(text) {
			return false
		}
		v.Float, _ = strconv.ParseFloat(text, 64)
		return allowed(v.Float)
	}, want}
}

// word is one of several; which one is in Text.
func word(words ...string) kind {
	return kind{"", func(text string, _ *Value) bool {
		for _, w := range words {
			if text == w {
				return true
			}
		}
		return false
	}, "one of " + strings.Join(words, ", ")}
}
