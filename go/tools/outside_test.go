package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutsideModule builds and runs a program of a module outside of this repository, in the way that
// docs/go.md describes.
func TestOutsideModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	user := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(user, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/user\n\ngo 1.26.0\n")
	write("main.go", `package main

import (
	"fmt"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
)

func main() {
	a := arena.New()
	defer a.Free()
	m := arena.NewOf[wrapperspb.StringValue](a)
	err := pb.Unmarshal(a, []byte("\n\x02ok"), m)
	fmt.Println(m.GetValue(), err, grpcgo.Codec().Name())
}
`)
	command := func(arguments ...string) string {
		c := exec.Command("go", arguments...)
		c.Dir = user
		c.Env = append(os.Environ(), "GOWORK="+filepath.Join(user, "go.work"), "GOFLAGS=-mod=readonly")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
		return string(out)
	}
	command("work", "init", ".", filepath.Join(root, "go"), filepath.Join(root, "go/pb"), filepath.Join(root, "go/adapters/grpcgo"))
	if got := command("run", "."); got != "ok <nil> proto\n" {
		t.Errorf("the program says %q", got)
	}
}
