package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/harena-project/harena/go/scope"
)

// Whatever a file holds, it is read or refused with a place and a reason; what is read can be used.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"valid", "invalid"} {
		for _, path := range files(f, folder) {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("harena.yaml", data)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || len(wrong.Problems) == 0 {
				t.Fatalf("the error is %#v", err)
			}
			for _, p := range wrong.Problems {
				if p.Place.Source != "harena.yaml" || p.Place.Line < 1 || p.Place.Column < 1 || p.Reason == "" {
					t.Errorf("a problem without a place or reason: %+v", p)
				}
				if strings.ContainsFunc(p.Reason, unicode.IsControl) {
					t.Errorf("a reason that is no line: %q", p.Reason)
				}
			}
			return
		}
		describe(c)
		for _, name := range append(c.Methods(), "") {
			options, err := c.ServiceOptions(scope.ServiceOptions{}, name)
			if err == nil && options.Methods[name].Validate() != nil {
				t.Errorf("options that are not valid: %+v", options.Methods[name])
			}
		}
	})
}
