package arena

import (
	"os/exec"
	"strings"
	"testing"
)

// runChild runs a program of testdata and returns what it printed.
func runChild(t *testing.T, arguments ...string) (output string, failed bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program; not with -short")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	printed, err := exec.Command(tool, append([]string{"run"}, arguments...)...).CombinedOutput()
	return string(printed), err != nil
}

// A goroutine that reads on after Reset is a data race, and the race detector says so.
func TestRaceDetectorFindsReadAfterReset(t *testing.T) {
	if tool, err := exec.LookPath("go"); err == nil {
		if cgo, _ := exec.Command(tool, "env", "CGO_ENABLED").Output(); strings.TrimSpace(string(cgo)) != "1" {
			t.Skip("the race detector needs cgo, which is off")
		}
		if unsupported, err := exec.Command(tool, "build", "-race", "-o", t.TempDir(), "./testdata/readafterreset").CombinedOutput(); err != nil {
			t.Skipf("-race does not build here: %s", unsupported)
		}
	}
	output, failed := runChild(t, "-race", "./testdata/readafterreset")
	if !failed || !strings.Contains(output, "WARNING: DATA RACE") || !strings.Contains(output, "arena.(*Arena).Reset") {
		t.Errorf("failed: %v\n%s", failed, output)
	}
}

func TestDebugBuildStopsAtStaleWrite(t *testing.T) {
	output, failed := runChild(t, "-tags=harena_debug", "./testdata/stalewrite")
	for _, want := range []string{"main.value.text (offset 8 of value 0) was written after the Reset or Free at", "stalewrite/main.go:15"} {
		if !failed || !strings.Contains(output, want) {
			t.Errorf("failed: %v, want %q in\n%s", failed, want, output)
		}
	}
}
