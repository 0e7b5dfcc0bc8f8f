package echotest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main runs the tests of a package, and fails when a goroutine outlives all of them.
func Main(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "goroutines left:\n%s\n", stacks[:runtime.Stack(stacks, true)])
			code = 1
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(code)
}

// Settled waits until no scope is alive, which may be a little after the client has its reply, and
// returns the method's counts. Before it looks again it calls between.
func Settled[S interface{ ScopesAlive() uint64 }](t testing.TB, counts func() S, between func()) S {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		m := counts()
		if m.ScopesAlive() == 0 {
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("scopes stay alive: %+v", m)
		}
		between()
		time.Sleep(time.Millisecond)
	}
}

// WantText wants an error that says all the parts.
func WantText(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}
