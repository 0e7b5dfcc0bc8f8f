// The demo's service as a process on trpc-go; package serving says how it behaves. A program of its own,
// so that nothing that trpc-go does at its start is in the numbers of grpc-go.
package main

import (
	"github.com/harena-project/harena/bench/go/serving"
	"github.com/harena-project/harena/bench/go/trpcdemo"
)

func main() {
	trpcdemo.Quiet()
	serving.Main(serving.Framework[*trpcdemo.Server]{Modes: trpcdemo.Modes(), NewServer: trpcdemo.NewServer})
}
