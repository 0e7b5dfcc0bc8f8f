package cells_test

import (
	"strings"
	"testing"
	"time"

	"github.com/harena-project/harena/bench/go/cells"
)

var kept []byte

func TestMeasureCountsOperations(t *testing.T) {
	ended, ops := 0, 0
	c := cells.Cell{Group: "g", Row: "r", Unit: "allocation", Units: 2, Ops: 50,
		Make: func() (cells.Body, error) {
			return cells.Body{Op: func() { ops++; kept = make([]byte, 1<<10) }, End: func() { ended++ }}, nil
		}}
	r, err := cells.Measure(&c, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if ops != 50 || r.Ops != 50 || ended != 1 {
		t.Errorf("%d operations, %d of them reported, %d ends", ops, r.Ops, ended)
	}
	if r.AllocsPerOp < 1 || r.AllocsPerOp > 3 || r.BytesPerOp < 1<<10 || r.BytesPerOp > 2<<10 {
		t.Errorf("%+v", r)
	}
}

func TestMeasureTakesItsTime(t *testing.T) {
	c := cells.Cell{Group: "g", Row: "r", Units: 1, Parallel: true,
		Make: func() (cells.Body, error) { return cells.Body{Op: func() { time.Sleep(100 * time.Microsecond) }}, nil }}
	start := time.Now()
	r, err := cells.Measure(&c, 50*time.Millisecond)
	if err != nil || r.Ops < 10 || r.WallNsPerUnit <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if spent := time.Since(start); spent < 60*time.Millisecond {
		t.Errorf("%v with the warm-up", spent)
	}
}

func TestMeasureOfWhatIsMissing(t *testing.T) {
	_, err := cells.Measure(&cells.Cell{Group: "g", Row: "r", Missing: "nobody has it"}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "g/r cannot be measured: nobody has it") {
		t.Errorf("%v", err)
	}
}
