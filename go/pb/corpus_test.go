package pb

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCorpora: the fuzz tests of this module run over inputs that fuzzing found worth keeping, and these
// are there.
func TestCorpora(t *testing.T) {
	for _, folder := range []string{
		"testdata/fuzz/FuzzDecode", "testdata/fuzz/FuzzRoundTrip", "testdata/fuzz/FuzzLimits",
		"testdata/fuzz/FuzzBudget", "inbound/testdata/fuzz/FuzzDecoder",
	} {
		inputs, err := os.ReadDir(filepath.FromSlash(folder))
		if err != nil || len(inputs) == 0 {
			t.Errorf("%s: %d inputs, %v", folder, len(inputs), err)
		}
	}
}
