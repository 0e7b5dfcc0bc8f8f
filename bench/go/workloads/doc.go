// Package workloads is what the demo and the benchmarks run on: payloads, and handlers that read a
// whole request and build a response of similar size. It is the Go side of the C++ workloads, with the
// same schemas, the same bytes and the same answers.
//
// The messages are those of gen/vt: ordinary protoc-gen-go structs with vtprotobuf's methods beside
// them. All rows of a comparison use them, so that rows differ in what decodes and encodes, and not
// in the types. protobuf itself never calls the additional methods.
package workloads
