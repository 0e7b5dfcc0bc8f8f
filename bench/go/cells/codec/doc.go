// Package codec has the cells of decoding, reading and encoding: Harena's codec, protobuf's and their
// rivals, on the same bytes and, where a rival has Go structs, on the same structs.
package codec

import "github.com/harena-project/harena/bench/go/cells"

// Cells returns all cells, the baseline of each group first. testdata is the folder of the real
// payloads.
func Cells(testdata string) []cells.Cell {
	var all []cells.Cell
	for _, p := range payloads(testdata) {
		all = append(all, p.cells()...)
	}
	return all
}

const easyprotoMissing = "its messages are written by hand, field by field: there is no generator, and a " +
	"hand-written reader of these schemas would measure its writer"

const hyperpbProfileMissing = "hyperpb v0.1.3 with the profile of this payload yields another message than " +
	"protobuf: layers have empty keys before their own"

const hyperpbMarshalMissing = "hyperpb decodes; its messages are encoded by protobuf's reflection"
