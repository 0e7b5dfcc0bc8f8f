// Package bench is the module of the Go benchmarks and of the demo's Go server. It is a module of its
// own so that the rivals it measures never stand in a user's go.mod.
//
// gen/plain, gen/vt and gen/vtpool hold the same schemas. Those of gen/vt have vtprotobuf's methods
// besides, those of gen/vtpool its pools too. Their packages end in `.vt` and `.vtpool`, so that one
// program can link them all; the wire format and the structs are the same.
package bench
