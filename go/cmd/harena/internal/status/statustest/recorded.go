// Package statustest has the status of a server for tests.
package statustest

import (
	"os"
	"testing"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
)

// Recorded returns what a C++ server once answered.
func Recorded(t *testing.T) status.Profile {
	t.Helper()
	data, err := os.ReadFile("../../../../../testdata/status/cpp.json")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := status.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return profile
}
