// Package servingtest starts servers of package serving in tests.
package servingtest

import (
	"net"
	"testing"

	"github.com/harena-project/harena/bench/go/serving"
	"github.com/harena-project/harena/bench/go/workloads"
)

// Start serves on loopback until the test ends, and returns the port. stop, a method of the server, is
// how it ends; Serve must return without an error then.
func Start(t testing.TB, server serving.Server, stop func()) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// Workload reads a workload with the repository's own test data.
func Workload(t testing.TB, name string) *workloads.Workload {
	t.Helper()
	testdata, err := workloads.FindTestdata()
	if err != nil {
		t.Fatal(err)
	}
	w, err := workloads.Load(name, testdata)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
