// Drives a demo server on trpc-go, as `bench-go load` does one on grpc-go:
//
//	trpc-load -port N ...     drives the server; see package load
//	trpc-load versions        versions of what is measured as JSON
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/process"
	"github.com/harena-project/harena/bench/go/trpcdemo"
)

func main() {
	trpcdemo.Quiet()
	if len(os.Args) == 2 && os.Args[1] == "versions" {
		_ = json.NewEncoder(os.Stdout).Encode(process.Versions())
		return
	}
	if err := load.Drive(os.Args[1:], trpcdemo.Dial); err != nil {
		fmt.Fprintf(os.Stderr, "trpc-load: %v\n", err)
		os.Exit(1)
	}
}
