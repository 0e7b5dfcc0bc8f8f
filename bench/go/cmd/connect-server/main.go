// The demo's service as a process on connect-go; package serving says how it behaves.
package main

import (
	"github.com/harena-project/harena/bench/go/connectdemo"
	"github.com/harena-project/harena/bench/go/serving"
)

func main() {
	serving.Main(serving.Framework[*connectdemo.Server]{Modes: connectdemo.Modes(), NewServer: connectdemo.NewServer})
}
