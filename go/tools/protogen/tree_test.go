package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplaceMakesTheTreeAndLeavesOtherFiles(t *testing.T) {
	root := t.TempDir()
	units := []unit{{dir: "gen"}, {dir: "not/there/yet"}}
	if err := replace(root, nil, tree{"gen/a/x.pb.go": "old", "gen/gone.pb.go": "old"}); err != nil {
		t.Fatal(err)
	}
	byHand := filepath.Join(root, "gen", "doc.go")
	if err := os.WriteFile(byHand, []byte("package gen"), 0o644); err != nil {
		t.Fatal(err)
	}
	old, err := readTree(root, units)
	if err != nil {
		t.Fatal(err)
	}
	if len(old) != 2 {
		t.Fatalf("read %v, want the two generated files", old)
	}
	made := tree{"gen/a/x.pb.go": "new", "gen/b/y.connect.go": "new"}
	if err := replace(root, old, made); err != nil {
		t.Fatal(err)
	}
	now, err := readTree(root, units)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(now, made) {
		t.Errorf("on disk %v, want %v", now, made)
	}
	if _, err := os.Stat(byHand); err != nil {
		t.Error(err)
	}
}

func TestCompareNamesWhatIsStale(t *testing.T) {
	made := tree{"same.pb.go": "a\nb\n", "changed.pb.go": "a\nnew\nc\n", "missing.pb.go": ""}
	old := tree{"same.pb.go": "a\nb\n", "changed.pb.go": "a\nold\nc\n", "extra.pb.go": ""}
	err := compare(old, made)
	if err == nil {
		t.Fatal("nothing reported")
	}
	for _, want := range []string{
		`changed.pb.go:2: is "old", should be "new"`,
		"missing.pb.go: missing",
		"extra.pb.go: no schema",
		"make generate",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "same.pb.go") {
		t.Errorf("a file that is current is reported:\n%v", err)
	}
	if err := compare(made, made); err != nil {
		t.Error(err)
	}
}

func TestFirstDifferenceAtTheEnd(t *testing.T) {
	for _, pair := range [][2]string{{"a", "a\nb"}, {"a\nb", "a"}, {"a\n", "a"}} {
		if got := firstDifference(pair[0], pair[1]); !strings.HasPrefix(got, "2: ") {
			t.Errorf("%q and %q: %s", pair[0], pair[1], got)
		}
	}
}
