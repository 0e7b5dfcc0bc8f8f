package vet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestEscapesAreReported(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "escapes")
}

func TestRetainSilences(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "retains")
}

func TestParamsFlag(t *testing.T) {
	if err := Analyzer.Flags.Set("params", "true"); err != nil {
		t.Fatal(err)
	}
	defer Analyzer.Flags.Set("params", "false")
	analysistest.Run(t, analysistest.TestData(), Analyzer, "params")
}

// The command is what users run: go vet has to accept it and print what it finds.
func TestGoVetRunsTheCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program; not with -short")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "harena-vet")
	if output, err := exec.Command(tool, "build", "-o", binary, "./cmd/harena-vet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	module := filepath.Join(dir, "module")
	stub := filepath.Join("testdata", "src", filepath.FromSlash(modulePath))
	if err := os.CopyFS(module, os.DirFS(stub)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module " + modulePath + "\n\ngo 1.25.0\n",
		"bad.go": "package bad\n\nimport \"" + arenaPath + "\"\n\nvar kept *int\n\nfunc keep(a *arena.Arena) { kept = arena.NewOf[int](a) }\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(tool, "vet", "-vettool="+binary, "./...")
	command.Dir = module
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "bad.go:7:") ||
		!strings.Contains(string(output), "result of arena.NewOf is stored in package-level variable kept") {
		t.Errorf("%v\n%s", err, output)
	}
}
