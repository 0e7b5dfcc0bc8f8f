// Package bench is the module of the Go benchmarks and of the demo's Go server. It is a module of its
// own so that the rivals it measures never stand in a user's go.mod.
//
// gen/plain and gen/vt hold the same schemas. Those of gen/vt have vtprotobuf's methods besides, and
// their packages end in `.vt`, so that one program can link both; the wire format is the same.
package bench
