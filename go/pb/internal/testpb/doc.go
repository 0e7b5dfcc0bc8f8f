// Package testpb is the messages that the codec's tests read and write: every kind of field, from
// proto/harena/test, under the Open API.
//
// Beside it: opaquepb and hybridpb are the same schemas under the other two APIs (hybridpb not all of
// them), in protobuf packages named harena.test.opaque and harena.test.hybrid; levelspb mixes all three
// in one file; workloads is the messages of the benchmarks.
//
// All but this file is generated: `make generate`, after a change to go/tools/protogen/plan.go.
package testpb
