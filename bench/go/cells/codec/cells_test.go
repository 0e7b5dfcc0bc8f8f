package codec

import (
	"strings"
	"testing"

	"github.com/harena-project/harena/bench/go/workloads"
)

// Every cell once, and what it yields compared with protobuf.
func TestCellsYieldWhatProtobufYields(t *testing.T) {
	testdata, err := workloads.FindTestdata()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Cells(testdata) {
		if c.Missing != "" {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			if underRace && strings.Contains(c.Name(), "/tile/hyperpb") {
				t.Skip("hyperpb v0.1.3 ends the program under the race detector: found bad pointer in Go heap")
			}
			body, err := c.Make()
			if err != nil {
				t.Fatal(err)
			}
			body.Op() // what is checked runs on memory that was used before
			if body.Check == nil {
				return
			}
			if err := body.Check(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
