package process_test

import (
	"runtime"
	"testing"

	"github.com/harena-project/harena/bench/go/process"
)

var kept []*[64]byte

func TestUsageCountsWhatIsDone(t *testing.T) {
	reader := process.NewReader()
	before := reader.Usage()
	const objects = 10_000
	kept = kept[:0]
	for range objects {
		kept = append(kept, new([64]byte))
	}
	runtime.GC()
	after := reader.Usage()
	if made := after.Allocations - before.Allocations; made < objects || made > objects+1000 {
		t.Errorf("%d allocations, want about %d", made, objects)
	}
	if after.GCCycles <= before.GCCycles || after.GCPauseSeconds <= before.GCPauseSeconds {
		t.Errorf("a collection that was not counted: %+v, then %+v", before, after)
	}
	if after.CPUSeconds < before.CPUSeconds || after.RSSPeakBytes == 0 {
		t.Errorf("%+v, then %+v", before, after)
	}
}

func TestReadingTheHeapMakesNoGarbage(t *testing.T) {
	reader := process.NewReader()
	reader.Heap()
	if made := testing.AllocsPerRun(100, func() { reader.Heap() }); made != 0 {
		t.Errorf("%v allocations", made)
	}
}

func TestReadingMakesNextToNoGarbage(t *testing.T) {
	reader := process.NewReader()
	before := reader.Usage()
	after := reader.Usage()
	if made := after.Allocations - before.Allocations; made > 2 {
		t.Errorf("%d allocations between two reads", made)
	}
}
