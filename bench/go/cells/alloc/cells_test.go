package alloc

import (
	"testing"
	"time"
	"unsafe"

	"github.com/harena-project/harena/bench/go/cells"
)

func TestObjectsHaveTheSizesOfTheirTests(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"growPerson", unsafe.Sizeof(growPerson{}), 64},
		{"parallelPerson", unsafe.Sizeof(parallelPerson{}), 48},
		{"node", unsafe.Sizeof(node{}), 16},
		{"person", unsafe.Sizeof(person{}), 56},
		{"typeA", unsafe.Sizeof(typeA{}), 32},
		{"typeD", unsafe.Sizeof(typeD{}), 32},
		{"typeG", unsafe.Sizeof(typeG{}), 32},
	} {
		if c.got != c.want {
			t.Errorf("%s has %d bytes, want %d", c.name, c.got, c.want)
		}
	}
}

// A cell without a limit of its own allocates what its row says: one object per unit for `new`, next to
// nothing where memory is reused.
func TestCellsAllocateWhatTheySay(t *testing.T) {
	for _, c := range Cells() {
		if c.Missing != "" || c.Ops != 0 && testing.Short() {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			if c.Ops != 0 {
				c.Ops = 1
			}
			r, err := cells.Measure(&c, 20*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			perUnit := r.AllocsPerOp / float64(r.Units)
			if c.Row == "new" && (perUnit < 0.99 || perUnit > 1.1) {
				t.Errorf("%.3f allocations per object", perUnit)
			}
			if c.Row != "new" && perUnit > 0.1 {
				t.Errorf("%.3f allocations per object", perUnit)
			}
		})
	}
}
