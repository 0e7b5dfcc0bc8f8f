package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Writes what the parser says as what it should say, to be read before it is believed.
var update = flag.Bool("update", false, "write testdata/config's .settings and .errors anew")

// files returns the shared files, which the C++ tests read as well.
func files(t testing.TB, folder string) []string {
	paths, err := filepath.Glob("../../testdata/config/" + folder + "/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata/config/%s (%v)", folder, err)
	}
	return paths
}

// beside returns the content of a file with another ending, or "".
func beside(t *testing.T, path, ending string) string {
	data, err := os.ReadFile(strings.TrimSuffix(path, ".yaml") + ending)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// overridden lays the environment over the file that stands beside it.
func overridden(t *testing.T, c *Config, path string) (*Config, error) {
	variables := make(map[string]string)
	for line := range strings.Lines(beside(t, path, ".environment")) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		variables[name] = text
	}
	return c.With(FromEnvironment(func(name string) (string, bool) {
		text, there := variables[name]
		return text, there
	})...)
}

// describe returns settings as the .settings files have them.
func describe(c *Config) string {
	var out strings.Builder
	write := func(section string, keys []key, settings Settings) {
		for _, k := range keys {
			v, given := settings[k.name]
			if !given {
				continue
			}
			text := v.Text
			if !v.Unset && v.Float != 0 {
				text = fmt.Sprintf("%g", v.Float)
			} else if !v.Unset && k.name != ModeKey {
				text = fmt.Sprint(v.Int)
			}
			fmt.Fprintf(&out, "%s %s = %s\n", section, k.name, text)
		}
	}
	write("process", processKeys, c.Process())
	write("process", poolKeys, c.Process())
	write("defaults", methodKeys, c.For(""))
	for _, name := range c.Methods() {
		write(name, methodKeys, c.For(name))
	}
	return out.String()
}

func TestValidFiles(t *testing.T) {
	for _, path := range files(t, "valid") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if c, err = overridden(t, c, path); err != nil {
				t.Fatal(err)
			}
			compare(t, path, ".settings", describe(c))
		})
	}
}

// What is wrong is told by line and column, in the same words as in C++. Of what is no YAML at all only
// the line is the same, as each language has a YAML reader of its own.
func TestInvalidFiles(t *testing.T) {
	for _, path := range files(t, "invalid") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := Load(path)
			if err == nil {
				_, err = overridden(t, c, path)
			}
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("the error is %v; want an *Error", err)
			}
			got := strings.ReplaceAll(wrong.Error(), path+":", "") + "\n"
			got = strings.ReplaceAll(got, path, filepath.Base(path))
			if at, _, syntax := strings.Cut(got, ": no valid YAML"); syntax {
				line, _, _ := strings.Cut(at, ":")
				got = line + ": no valid YAML\n"
			}
			compare(t, path, ".errors", got)
		})
	}
}

func compare(t *testing.T, path, ending, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(strings.TrimSuffix(path, ".yaml")+ending, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := beside(t, path, ending); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
