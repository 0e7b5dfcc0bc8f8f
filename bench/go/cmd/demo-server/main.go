// The demo's Go server process, on grpc-go; package serving says how it behaves.
package main

import (
	"google.golang.org/grpc"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/serving"
)

func main() {
	serving.Main(serving.Framework[*grpc.Server]{Modes: demo.Modes(), NewServer: demo.NewServer})
}
