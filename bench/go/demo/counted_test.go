package demo_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/workloads"
)

func TestCountsGrowByWhatARequestCosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	counted, err := demo.NewCounted(demo.Service{}, path)
	if err != nil {
		t.Fatal(err)
	}
	client := serve(t, "heap", counted, 0)
	w, err := workloads.Load("ranking_200k_one", "")
	if err != nil {
		t.Fatal(err)
	}
	read := func() uint64 {
		file, err := os.ReadFile(path)
		if err != nil || len(file) != 64*64 {
			t.Fatalf("the counter file has %d bytes: %v", len(file), err)
		}
		return binary.NativeEndian.Uint64(file)
	}
	call(t, client, w, w.Requests[0])
	before := read()
	const calls = 4
	for range calls {
		call(t, client, w, w.Requests[0])
	}
	// Decoding alone makes an object per message and per string.
	if perCall := (read() - before) / calls; perCall < 10_000 || perCall > 60_000 {
		t.Errorf("%d allocations per call", perCall)
	}
}
